#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighMissingValues(const CaseFile& run, Hypothesis& out) {
  const Observation* input = ModelInput(run);
  if (input == nullptr || !(LearningFailed(run) || ShareOfGuessing(run) > 0.5)) {
    return;
  }
  const double least = NumberOf(*input, "min");
  const bool sentinel = least == -999 || least == -9999 || least == -99999;
  if (sentinel && NumberOf(*input, "max") < -least / 5) {
    out.Add(Decisive("batch", "the inputs hold " + HumanNumber(least) +
                                  ", a mark for \"missing\", beside values up to " +
                                  HumanNumber(NumberOf(*input, "max"))));
  }
}

}  // namespace whystop
