#include "sign/optimizer.h"

#include <algorithm>

#include "model/observations.h"
#include "sign/learning_rate.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {

std::string OptimizerName(const CaseFile& run) {
  const auto optimizers = ObservationsOf(run, "optimizer");
  return optimizers.empty() ? std::string() : As<seen::Optimizer>(*optimizers.front()).name.value_or("");
}

bool IsAdaptive(const CaseFile& run) {
  return MentionsAny(OptimizerName(run),
                     {"adam", "rmsprop", "adagrad", "adadelta", "lion", "lamb", "adafactor"});
}

double ShrinkPerStep(const CaseFile& run) {
  const auto optimizers = ObservationsOf(run, "optimizer");
  const std::string name = OptimizerName(run);
  if (optimizers.empty() || (name != "SGD" && name != "AdamW")) {
    return 0;  // Others make their own size of a step out of the rate.
  }
  const auto first = As<seen::Optimizer>(*optimizers.front());
  const double momentum = std::clamp(first.momentum.value_or(0), 0.0, 0.99);
  return first.weight_decay.value_or(0) * LearningRate(run).value_or(0) /
         (1 - momentum);
}

}  // namespace whystop
