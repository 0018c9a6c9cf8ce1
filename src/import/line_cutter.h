#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace whystop {

/// Cuts pieces of a text into lines. A line longer than `line_bytes_max` is passed over and
/// counted. A text whose first line break is a return without a line feed is cut at returns.
class LineCutter {
 public:
  explicit LineCutter(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  /// Calls `on_line(std::string_view line, std::int64_t number)` for each whole line; the view has
  /// no line end and is valid during the call only. Numbers count from 1.
  template <typename OnLine>
  void Feed(std::string_view piece, OnLine on_line) {
    std::string joined;
    if (end_ == '\0') {
      LearnEnd(piece);
      if (end_ == '\r' && !carry_.empty()) {  // The first break may lie in what was kept.
        joined = std::exchange(carry_, {}).append(piece);
        piece = joined;
      }
    }
    while (!piece.empty()) {
      const std::size_t end = end_ == '\0' ? std::string_view::npos : piece.find(end_);
      if (end == std::string_view::npos) {
        Keep(piece);
        return;
      }
      const std::string_view head = piece.substr(0, end);
      piece.remove_prefix(end + 1);
      ++number_;
      if (carry_.empty() && !passing_) {
        on_line(head, number_);
        continue;
      }
      Keep(head);
      if (!passing_) {
        on_line(std::string_view(carry_), number_);
      }
      carry_.clear();
      passing_ = false;
    }
  }

  /// What stands behind the last line end: a line that is cut, or only lacks its line end.
  std::string_view rest() const { return carry_; }
  std::int64_t rest_number() const { return number_ + 1; }
  std::int64_t lines_too_long() const { return lines_too_long_; }

 private:
  /// By the first break: returns that no line feed follows end lines themselves.
  void LearnEnd(std::string_view piece) {
    for (const char letter : piece) {
      if (letter == '\n' || (returned_ && letter != '\r')) {
        end_ = letter == '\n' ? '\n' : '\r';
        return;
      }
      returned_ = returned_ || letter == '\r';
    }
  }

  void Keep(std::string_view part) {
    if (passing_) {
      return;
    }
    if (carry_.size() + part.size() > line_bytes_max_) {
      passing_ = true;
      ++lines_too_long_;
      carry_.clear();
      return;
    }
    carry_.append(part);
  }

  std::size_t line_bytes_max_;
  char end_ = '\0';        // Not known yet.
  bool returned_ = false;  // A return was read before that.
  std::string carry_;
  bool passing_ = false;
  std::int64_t number_ = 0;
  std::int64_t lines_too_long_ = 0;
};

}  // namespace whystop
