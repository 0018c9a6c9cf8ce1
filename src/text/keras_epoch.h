#pragma once

#include "text/metric_line.h"

namespace whystop {

/// Tells the bars of Keras apart: those of an epoch that was announced ("Epoch 3/10"), and those that follow when it is
/// over, of evaluate(), whose loss is of other data and ends no curve.
class KerasEpoch {
 public:
  /// To be asked once for each line with counters or figures, in order.
  bool IsEvaluation(const MetricLine& line);

 private:
  enum class At { kNoEpoch, kInside, kBehind, kEvaluation };
  At at_ = At::kNoEpoch;
  double epoch_ = 0;
  std::int64_t steps_ = 0;
  bool shared_ = false;  // Several processes write into the same log: their bars mix.
};

}  // namespace whystop
