#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighClassImbalance(const CaseFile& run, Hypothesis& out) {
  const auto labels = ObservationsOf(run, "labels");
  const LearningView learning = LearningOf(run);
  if (labels.empty() || LossLost(run) != nullptr || learning.basis == nullptr) {
    return;
  }
  const double majority = NumberOf(*labels.back(), "majority");
  if (NumberOf(*labels.back(), "classes") < 2 || majority < 0.9 || majority >= 1) {
    return;
  }
  // What a model reaches that knows the shares of the classes and nothing else.
  const double prior = -majority * std::log(majority) - (1 - majority) * std::log(1 - majority);
  const double last = learning.basis->Number("last").value_or(0);
  const std::string shares = Percent(majority) + " of the labels are of one class (" + TextOf(*labels.back(), "counts") + ")";
  if (last > 0.8 * prior && last < 1.5 * prior) {
    out.Add(Decisive("labels", shares + "; the loss ends at " + HumanNumber(last) + ", where it gets by knowing these shares alone (" +
                                   HumanNumber(prior) + ")"));
  } else if (LearningFailed(run)) {
    out.Add(Decisive("labels", shares));
  }
}

}  // namespace whystop
