#pragma once

#include <cstdint>
#include <vector>

#include "detect/series_history.h"

namespace whystop {

/// What a series did over the whole run, measured against its own noise. Levels are medians over
/// stretches of the run. All of it is in the direction "lower is better": for a score, the values
/// are negated.
struct SeriesShape {
  std::int64_t points = 0;
  double first = 0;    // Level of the first few points alone.
  double start = 0;    // `first`, or the highest level of the first eighth where that is higher.
  double end = 0;      // Level of the last stretch.
  double best = 0;     // Lowest level of any stretch.
  double best_at = 0;  // Where that was: 0 the start of the run, 1 its end.
  double worst = 0;    // Highest level of any stretch.
  double noise = 0;    // Scatter of one point about the trend.
  double noise_start = 0;  // The same within the first quarter of the run.
  double level_noise = 0;  // Scatter of a stretch's level: slow wander counts, the trend does not.
  double drop = 0;         // start - end.
  double drop_in_noise_units = 0;
  double end_change =
      0;  // Change that the slope of the last part makes over that part; negative: falling.
  double end_change_error = 0;  // Its standard error.
  double late_change = 0;       // The same over the last three quarters of the run.
  double late_change_error = 0;
  bool still_falling = false;  // end_change is beyond its error, and matters.
  std::vector<double> levels;  // Of each stretch, in order; at most 24.

  /// |start| or |end|, whichever is larger: what a change is compared with to call it small.
  double Scale() const;
};

/// `lower_is_better` false negates the values.
SeriesShape ShapeOf(const SeriesHistory& history, bool lower_is_better = true);

double Median(std::vector<double> values);  // 0 when empty.

}  // namespace whystop
