#pragma once

#include <cstdint>
#include <string>

#include "import/json_walk.h"
#include "import/position_key.h"
#include "import/series_log.h"

namespace whystop {

/// Pushes rows of named numbers into a log: counters and plans go to the position, everything else is a series.
class MetricRows {
 public:
  explicit MetricRows(SeriesLog& log) : log_(log) {}

  /// `fallback` stands where the row itself names no step.
  void Take(const JsonRow& row, RowPosition fallback);
  std::int64_t rows() const { return rows_; }

 private:
  RowPosition PositionOf(const JsonRow& row, RowPosition position);

  SeriesLog& log_;
  std::int64_t rows_ = 0;
};

/// A whole number that an int64 holds exactly.
std::optional<std::int64_t> WholeNumber(double number);

}  // namespace whystop
