#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/line_splitter.h"

namespace whystop {

/// Lines of a log or of a source file, as they are shown.
struct Excerpt {
  struct Line {
    std::int64_t number = 0;
    std::string text;
  };
  std::string file;
  std::vector<Line> lines;        // Numbers may jump: what stands between was left out.
  std::set<std::int64_t> marked;  // What the verdict points at.
  std::string note;               // "changed since the run", or empty.
};

/// Keeps of a log its last lines and those around the places asked for; of a line that was redrawn
/// its last state. Bounded.
class LogLines final : private LineSink {
 public:
  static constexpr std::size_t kLinesAtEnd = 160;
  static constexpr std::int64_t kLinesAround = 8;

  explicit LogLines(std::string file) : splitter_(*this) { excerpt_.file = std::move(file); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  /// To be told before the bytes come, or for lines among the last.
  void Mark(std::int64_t line) { excerpt_.marked.insert(line); }
  void Feed(std::string_view bytes) { splitter_.Feed(bytes); }
  Excerpt Finish();
  /// As it stands, without an unfinished line.
  Excerpt Now() const;
  /// Takes over what another look at the same log kept around its marks.
  void TakeAround(const LogLines& other) { around_.insert(other.around_.begin(), other.around_.end()); }
  /// Whether this line is still among those kept (or was never there).
  bool Holds(std::int64_t line) const;

 private:
  void OnLine(const LogLine& line) override;
  void OnNulRun(std::int64_t, std::int64_t) override {}
  bool IsNearMark(std::int64_t number) const;

  LineSplitter splitter_;
  Excerpt excerpt_;
  std::map<std::int64_t, std::string> around_;
  std::deque<Excerpt::Line> end_;
  std::int64_t dropped_to_ = 0;  // The last line that fell out of `end_`.
};

/// The lines around `line` of a source file that is read now. Empty: not readable, or too short.
Excerpt SourceAround(const std::string& path, std::int64_t line);

}  // namespace whystop
