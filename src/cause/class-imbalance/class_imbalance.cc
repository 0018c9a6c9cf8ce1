#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighClassImbalance(const CaseFile& run, Hypothesis& out) {
  const auto labels = ObservationsOf(run, "labels");
  if (labels.empty() || !LearningFailed(run) || LossLost(run) != nullptr) {
    return;
  }
  const double majority = NumberOf(*labels.back(), "majority");
  if (NumberOf(*labels.back(), "classes") >= 2 && majority >= 0.9) {
    out.Add(Decisive("labels", Percent(majority) + " of the labels are of one class (" + TextOf(*labels.back(), "counts") + ")"));
  }
}

}  // namespace whystop
