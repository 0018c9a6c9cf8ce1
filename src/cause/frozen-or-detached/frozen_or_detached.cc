#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighFrozenOrDetached(const CaseFile& run, Hypothesis& out) {
  const Observation* without = run.FindObservation("parameter-without-gradient");
  const Finding* zero = run.FindFirst("gradient/zero");
  if (!LearningFailed(run) || Counted(run, "backwards").value_or(0) == 0) {
    return;
  }
  if (without != nullptr && NumberOf(*without, "count") < NumberOf(*without, "of")) {
    const double share = NumberOf(*without, "count") / NumberOf(*without, "of");
    const std::string text = HumanNumber(NumberOf(*without, "count")) + " of " + HumanNumber(NumberOf(*without, "of")) +
                             " tensors get no gradient: " + TextOf(*without, "names");
    out.Add(share > 0.3 ? Decisive("tensor", text) : Supports("tensor", text));
  }
  if (zero != nullptr && run.FindFirst("activation/dead") == nullptr && without != nullptr) {
    out.Add(Supports("tensor", "gradients of " + zero->series + " are exactly zero", zero->facts));
  }
}

}  // namespace whystop
