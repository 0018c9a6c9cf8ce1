#include "text/keras_epoch.h"

namespace whystop {

bool KerasEpoch::IsEvaluation(const MetricLine& line) {
  if (line.epoch && line.epochs && !line.step) {
    shared_ = shared_ || (at_ == At::kInside && epoch_ == *line.epoch);
    at_ = line.values.empty() ? At::kInside : At::kNoEpoch;  // Keras announces an epoch on a line of its own.
    epoch_ = *line.epoch;
    return false;
  }
  if (!line.unnamed_count || !line.steps || line.values.empty() || at_ == At::kNoEpoch || shared_) {
    return false;
  }
  const bool full = *line.step >= *line.steps;
  if (at_ == At::kInside) {
    at_ = full && !line.in_progress ? At::kBehind : At::kInside;
    steps_ = *line.steps;
    return false;
  }
  // The full bar is drawn again with the figures of validation; any other bar is another pass.
  if (at_ == At::kBehind && (!line.bar || !full || *line.steps != steps_)) {
    at_ = At::kEvaluation;
  }
  return at_ == At::kEvaluation;
}

}  // namespace whystop
