#include "import/jsonl/jsonl_reader.h"

#include <string>
#include <utility>

#include "base/parse.h"
#include "import/json_walk.h"
#include "import/line_cutter.h"
#include "import/metric_rows.h"

namespace whystop {
namespace {

constexpr std::size_t kLineBytesMax = 4 << 20;
constexpr std::size_t kLastLineBytes = 200;

void PushEnd(SeriesLog& log, bool whole, std::string last_line) {
  TextEnd end;
  end.kind = !whole ? TextEnd::Kind::kMidLine : log.CountedDown() ? TextEnd::Kind::kCompleted : TextEnd::Kind::kSilent;
  end.place.file = log.file();
  end.last_line = std::move(last_line);
  log.Emit(std::move(end));
}

class LineRows final : public JsonVisitor {
 public:
  explicit LineRows(SeriesLog& log) : rows_(log) {}
  void SetLine(std::int64_t number) { line_ = number; }
  void OnRow(const std::string& path, const JsonRow& row) override {
    static_cast<void>(path);
    RowPosition position;
    position.line = line_;
    position.step = rows_.rows();
    rows_.Take(row, position);
  }
  void OnElement(const std::string&, std::int64_t, double) override {}
  void OnFact(const std::string&, double) override {}
  void OnFactText(const std::string&, std::string_view) override {}

 private:
  MetricRows rows_;
  std::int64_t line_ = 0;
};

class HistoryRows final : public JsonVisitor {
 public:
  explicit HistoryRows(SeriesLog& log) : log_(log), rows_(log) {}
  void OnRow(const std::string& path, const JsonRow& row) override {
    static_cast<void>(path);
    RowPosition position;
    position.step = rows_.rows();
    rows_.Take(row, position);
  }
  void OnElement(const std::string& path, std::int64_t index, double value) override {
    Take(path, index, value);
  }
  /// pandas writes {"loss": {"0": 1.2, "1": 0.9}}.
  void OnFact(const std::string& path, double value) override {
    const std::size_t slash = path.rfind('/');
    const auto index = slash == std::string::npos
                           ? std::nullopt
                           : ParseWhole<std::int64_t>(path.substr(slash + 1));
    if (index) {
      Take(path.substr(0, slash), *index, value);
    } else if (PositionKeyOf(path) == PositionKey::kStepsPlanned) {
      log_.SetPlan(WholeNumber(value), std::nullopt);
    } else if (PositionKeyOf(path) == PositionKey::kEpochsPlanned) {
      log_.SetPlan(std::nullopt, value);
    }
  }
  void OnFactText(const std::string&, std::string_view) override {}

 private:
  void Take(std::string_view path, std::int64_t index, double value) {
    if (path.starts_with("history/")) {
      path.remove_prefix(8);
    }
    if (PositionKeyOf(path) != PositionKey::kNone) {
      return;  // A column of counters: the index says as much.
    }
    if (const auto series = log_.Find(path)) {
      RowPosition position;
      position.step = index;
      log_.Push(*series, value, position);
    }
  }
  SeriesLog& log_;
  MetricRows rows_;
};

}  // namespace

void ReadJsonLines(ByteSource& source, SeriesLog& log) {
  LineRows rows(log);
  LineCutter lines(kLineBytesMax);
  std::string last_line;
  const auto on_line = [&](std::string_view line, std::int64_t number) {
    if (Trim(line).empty()) {
      return;
    }
    rows.SetLine(number);
    if (WalkJsonLine(line, rows) != JsonEnd::kWhole) {
      log.Dropped("import.jsonl_bad_line");
    }
    last_line.assign(line.substr(0, kLastLineBytes));
  };
  for (std::string_view piece = source.Next(); !piece.empty(); piece = source.Next()) {
    lines.Feed(piece, on_line);
  }
  bool whole = true;
  if (!Trim(lines.rest())
           .empty()) {  // An object knows its own end, so a missing line end loses nothing.
    rows.SetLine(lines.rest_number());
    whole = WalkJsonLine(lines.rest(), rows) == JsonEnd::kWhole;
    last_line.assign(lines.rest().substr(0, kLastLineBytes));
  }
  if (lines.lines_too_long() > 0) {
    log.Dropped("import.jsonl_line_too_long", lines.lines_too_long());
  }
  PushEnd(log, whole, std::move(last_line));
}

void ReadJsonHistory(ByteSource& source, SeriesLog& log) {
  HistoryRows rows(log);
  const JsonEnd end = WalkJson(source, rows);
  if (end == JsonEnd::kBroken) {
    log.Dropped("import.json_broken");
  }
  PushEnd(log, end == JsonEnd::kWhole, {});
}

}  // namespace whystop
