#include "sign/learns_soundly.h"

#include <algorithm>

#include "model/observations.h"
#include "sign/answers.h"
#include "sign/observed.h"
#include "sign/optimizer_tensors.h"

namespace whystop {

bool LearnsSoundly(const CaseFile& run) {
  if (StepsMade(run) < 20 ||
      run.FindObservation("parameter-without-gradient") != nullptr ||
      LeftInNoOptimizer(run) != nullptr ||
      As<seen::IdenticalRows>(run.FindObservation(seen::IdenticalRows::kKind)).count.value_or(0) > 0) {
    return false;
  }
  for (const char* fault :
       {"weights/unchanged", "gradient/zero", "gradient/vanishing", "gradient/exploding",
        "update/ratio-too-large", "update/ratio-too-small", "lr/zero", "lr/decayed-early",
        "activation/dead", "activation/saturated", "scale/keeps-falling", "weights/initial-scale",
        "weights/vanished"}) {
    if (run.FindFirst(fault) != nullptr) {
      return false;
    }
  }
  const auto calls = ObservationsOf(run, "loss-call");
  const auto first = As<seen::LossCall>(calls.empty() ? nullptr : calls.front());
  // A single number has the shape "", whether that is told or not.
  if (first.function == "mse_loss" && first.input_shape.value_or("") != first.target_shape.value_or("")) {
    return false;
  }
  if (calls.empty() || !GivesOneAnswer(*calls.back(), kOneAnswer)) {
    return true;
  }
  // Where there is nothing to learn, outputs that differed may end as one, but not at once: that is
  // a model that collapsed.
  constexpr int kDifferedMin = 2;
  return std::count_if(calls.begin(), calls.end(), [](const Observation* call) {
           return OrZero(As<seen::LossCall>(*call).call) >= 10 && !GivesOneAnswer(*call, kOneAnswer);
         }) >= kDifferedMin;
}

}  // namespace whystop
