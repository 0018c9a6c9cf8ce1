#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighCategoricalAsInteger(const CaseFile& run, Hypothesis& out) {
  const Observation* input = ModelInput(run);
  const LearningView learning = LearningOf(run);
  if (input == nullptr ||
      !(learning.state == Learning::kStalled || learning.state == Learning::kNeverLearned)) {
    return;
  }
  const double distinct = NumberOf(*input, "distinct");
  if (NumberOf(*input, "integer_valued") > 0 && distinct >= 3 && distinct <= 50 &&
      NumberOf(*input, "min") >= 0) {
    out.Add(Supports(
        "batch", "the inputs are the whole numbers " + HumanNumber(NumberOf(*input, "min")) +
                     " to " + HumanNumber(NumberOf(*input, "max")) + " (" + HumanNumber(distinct) +
                     " different ones): codes of kinds, given as sizes"));
  }
}

}  // namespace whystop
