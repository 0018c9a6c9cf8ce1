#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace whystop {

/// A named number of a line. The key points into the line, or to a constant where `by_value` is
/// set.
struct MetricValue {
  std::string_view key;
  double value = 0;
  std::uint32_t at = 0;  // Of the number in the line.
};

/// What a line says in numbers, whatever its dialect: counters apart, the rest by name.
struct MetricLine {
  std::optional<double> epoch;
  std::optional<double> epochs;      // Only as part of "epoch 3/10".
  std::optional<std::int64_t> step;  // As written: within the epoch where the line counts so.
  std::optional<std::int64_t> steps;
  std::vector<MetricValue> values;
  bool fractional_epoch = false;  // "epoch: 0.52", "epoch: 5.0": counted in parts.
  bool bar = false;               // The step is the count of a Keras bar.
  bool validation = false;        // The line is about held-out data ("Validation batch 3/9").
  bool in_progress = false;       // A redraw of a bar that is not full yet (Keras).

  bool round = false;  // The step is a round of boosting, counted on from the first to the last.
  bool unnamed_count = false;  // The line begins with "12/100", as those of Keras do.
  bool eta = false;  // Of a Keras bar: it says how long it will take.
  bool by_value =
      false;  // What it means hangs on the numbers' values, not on the line's shape alone.
  std::uint32_t epoch_at = 0;  // Where the numbers of the counters stand.
  std::uint32_t epochs_at = 0;
  std::uint32_t step_at = 0;
  std::uint32_t steps_at = 0;

  bool has_counter() const { return epoch.has_value() || step.has_value(); }
  void Clear();
};

/// Darknet's line: "123: 4.56, 5.67 avg loss, 0.001 rate, 3.2 seconds, 7872 images". Its smoothed
/// loss and learning rate; the names follow the numbers, so the keys are ours.
bool ReadDarknetLine(std::string_view text, MetricLine& out);

/// Reads `body` (no logger prefix) into `out`, which is cleared first. False: no named number in
/// it.
bool LexMetricLine(std::string_view body, MetricLine& out);

}  // namespace whystop
