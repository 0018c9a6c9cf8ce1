#include "import/csv/table_reader.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "import/csv/csv_row.h"
#include "import/line_cutter.h"
#include "import/metric_rows.h"

namespace whystop {
namespace {

constexpr std::size_t kLineBytesMax = 1 << 20;
constexpr std::size_t kColumnsMax = 4096;
constexpr std::size_t kLastLineBytes = 200;

}  // namespace

void TableReader::Read(ByteSource& source) {
  LineCutter lines(kLineBytesMax);
  const auto on_line = [this](std::string_view line, std::int64_t number) {
    TakeLine(line, number, true);
  };
  for (std::string_view piece = source.Next(); !piece.empty(); piece = source.Next()) {
    lines.Feed(piece, on_line);
  }
  const bool whole = lines.rest().empty();
  if (!whole) {
    TakeLine(lines.rest(), lines.rest_number(), false);
  }
  if (lines.lines_too_long() > 0) {
    log_.Dropped("import.csv_line_too_long", lines.lines_too_long());
  }
  PushEnd(whole, lines.rest());
}

void TableReader::PushEnd(bool whole, std::string_view rest) {
  TextEnd end;
  end.kind = !whole ? TextEnd::Kind::kMidLine : log_.CountedDown() ? TextEnd::Kind::kCompleted : TextEnd::Kind::kSilent;
  end.place.file = log_.file();
  end.last_line = whole ? last_line_ : std::string(rest.substr(0, kLastLineBytes));
  log_.Emit(std::move(end));
}

void TableReader::TakeLine(std::string_view line, std::int64_t number, bool whole) {
  if (number == 1 && line.starts_with("\xef\xbb\xbf")) {
    line.remove_prefix(3);  // Byte order mark of Windows tools.
  }
  std::string_view text = Trim(line);
  if (text.empty()) {
    return;
  }
  if (text.front() == '#') {
    if (has_header_ || text.starts_with("#{")) {
      return;  // A comment, or the monitor file's JSON line before the header.
    }
    text = Trim(text.substr(1));
    line = text;
  }
  if (!has_header_) {
    if (!whole) {
      return;
    }
    separator_ = SniffSeparator(line);
    SplitRow(line, separator_, kColumnsMax, fields_);
    TakeHeader();
    return;
  }
  SplitRow(line, separator_, kColumnsMax, fields_);
  if (IsHeaderAgain()) {
    if (whole) {
      TakeHeader();
    }
    return;
  }
  if (!whole) {
    fields_.pop_back();
  }
  TakeRow(number);
  if (whole) {
    last_line_.assign(text.substr(0, kLastLineBytes));
  }
}

bool TableReader::IsHeaderAgain() const {
  if (fields_.empty() || FieldNumber(fields_.front())) {
    return false;  // The common case, cheaply.
  }
  // The same names again, perhaps with more of them.
  const std::size_t count = std::min(fields_.size(), header_.size());
  std::size_t same = 0;
  for (const std::string_view field : fields_) {
    same += !field.empty() && std::find(header_.begin(), header_.end(), field) != header_.end()
                ? 1U
                : 0U;
  }
  return count > 0 && same * 2 > count &&
         std::none_of(fields_.begin(), fields_.end(),
                      [](std::string_view field) { return FieldNumber(field).has_value(); });
}

void TableReader::TakeHeader() {
  header_.assign(fields_.begin(), fields_.end());
  has_header_ = true;
  has_counter_ = false;
  columns_.assign(header_.size(), Column{});
  for (std::size_t i = 0; i < header_.size(); ++i) {
    Column& column = columns_[i];
    column.key = PositionKeyOf(header_[i]);
    if (i == 0 && (header_[i].empty() || header_[i].starts_with("Unnamed:"))) {
      column.key = PositionKey::kRowNumber;  // The index that pandas writes.
    }
    has_counter_ =
        has_counter_ || column.key == PositionKey::kStep || column.key == PositionKey::kEpoch;
    if (column.key != PositionKey::kNone) {
      continue;
    }
    const auto series = header_[i].empty() ? std::nullopt : log_.Find(header_[i]);
    column.ignored = !series.has_value();
    column.series = series.value_or(0);
  }
}

RowPosition TableReader::PositionOfRow(std::int64_t line_number) {
  RowPosition position;
  std::optional<std::int64_t> row_number;
  position.line = line_number;
  for (std::size_t i = 0; i < std::min(fields_.size(), columns_.size()); ++i) {
    const PositionKey key = columns_[i].key;
    const auto number = key == PositionKey::kNone ? std::nullopt : FieldNumber(fields_[i]);
    if (!number) {
      continue;
    }
    switch (key) {
      case PositionKey::kStep:
        position.step = position.step ? position.step : WholeNumber(*number);
        break;
      case PositionKey::kRowNumber:
        row_number = WholeNumber(*number);
        break;
      case PositionKey::kEpoch:
        position.epoch = *number;
        break;
      case PositionKey::kStepsPlanned:
        log_.SetPlan(WholeNumber(*number), std::nullopt);
        break;
      case PositionKey::kEpochsPlanned:
        log_.SetPlan(std::nullopt, *number);
        break;
      case PositionKey::kWallSeconds:
        position.at = log_.SinceFirst(*number);
        break;
      case PositionKey::kTimeLeft:
        log_.PushTimeLeft(*number);
        break;
      case PositionKey::kRunSeconds:
      case PositionKey::kNone:
        break;
    }
  }
  if (!has_counter_) {
    position.step = row_number ? row_number : row_;
  }
  return position;
}

void TableReader::TakeRow(std::int64_t line_number) {
  ++row_;
  const RowPosition position = PositionOfRow(line_number);
  log_.BeginRow(position);
  if (fields_.size() > columns_.size()) {
    log_.Dropped("import.csv_extra_field",
                 static_cast<std::int64_t>(fields_.size() - columns_.size()));
  }
  for (std::size_t i = 0; i < std::min(fields_.size(), columns_.size()); ++i) {
    const Column& column = columns_[i];
    if (column.key != PositionKey::kNone || column.ignored || fields_[i].empty()) {
      continue;
    }
    if (const auto number = FieldNumber(fields_[i])) {
      log_.Push(column.series, *number, position);
    } else {
      log_.Dropped("import.csv_bad_field");
    }
  }
}

}  // namespace whystop
