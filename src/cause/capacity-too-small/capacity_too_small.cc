#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighCapacityTooSmall(const CaseFile& run, Hypothesis& out) {
  const Observation* model = run.FindObservation("model");
  const LearningView learning = LearningOf(run);
  if (model == nullptr || learning.state != Learning::kStalled ||
      NumberOf(*model, "parameters") > 20) {
    return;
  }
  out.Add(Supports("model", TextOf(*model, "name") + " has " +
                                HumanNumber(NumberOf(*model, "parameters")) + " parameters"));
  out.Add(Supports("series", learning.text));
}

}  // namespace whystop
