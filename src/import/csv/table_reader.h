#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/byte_source.h"
#include "import/position_key.h"
#include "import/series_log.h"

namespace whystop {

/// Reads any table of numbers with a header: Lightning's metrics.csv (sparse), Keras' CSVLogger
/// (appended runs), Ultralytics' results.csv (padded), pandas dumps, hand-written ones. Every
/// column that is no counter or time is a series. Without a step or epoch column the row's number
/// is the step. A header that comes again, or grows, is taken as the new header. The last field of
/// a file that ends without a line end may be cut and is left out.
///
/// Counters: import.csv_line_too_long, import.csv_bad_field (no number), import.csv_extra_field
/// (beyond the header).
class TableReader {
 public:
  explicit TableReader(SeriesLog& log) : log_(log) {}
  void Read(ByteSource& source);

 private:
  struct Column {
    PositionKey key = PositionKey::kNone;
    bool ignored = false;  // No name, a name that was too many.
    SeriesLog::SeriesIndex series = 0;
  };
  void TakeLine(std::string_view line, std::int64_t number, bool whole);
  void TakeHeader();
  bool IsHeaderAgain() const;
  RowPosition PositionOfRow(std::int64_t line_number);
  void TakeRow(std::int64_t line_number);
  void PushEnd(bool whole, std::string_view rest);

  SeriesLog& log_;
  char separator_ = '\0';
  bool has_header_ = false;
  bool has_counter_ = false;
  std::vector<Column> columns_;
  std::vector<std::string> header_;
  std::vector<std::string_view> fields_;  // Of the current line.
  std::int64_t row_ = 0;
  std::string last_line_;
};

}  // namespace whystop
