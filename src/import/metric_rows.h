#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/json_walk.h"
#include "import/position_key.h"
#include "import/series_log.h"

namespace whystop {

/// Pushes rows of named numbers into a log: counters and plans go to the position, everything else
/// is a series.
class MetricRows {
 public:
  explicit MetricRows(SeriesLog& log) : log_(log) {}

  /// `fallback` stands where the row itself names no step.
  void Take(const JsonRow& row, RowPosition fallback);
  std::int64_t rows() const { return rows_; }

 private:
  /// What a name turned out to be. Rows repeat their names in the same order, so the n-th is looked
  /// up at n.
  struct Known {
    std::string name;
    PositionKey key = PositionKey::kNone;
    std::optional<SeriesLog::SeriesIndex> series;
  };
  const Known& Lookup(std::size_t at, const std::string& name);
  RowPosition PositionOf(const JsonRow& row, RowPosition position);

  SeriesLog& log_;
  std::vector<Known> known_;
  std::int64_t rows_ = 0;
};

/// A whole number that an int64 holds exactly.
std::optional<std::int64_t> WholeNumber(double number);

}  // namespace whystop
