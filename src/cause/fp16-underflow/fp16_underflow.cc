#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighFp16Underflow(const CaseFile& run, Hypothesis& out) {
  const Finding* zero = run.FindFirst("gradient/zero");
  if (zero == nullptr || !LearningFailed(run) || !UsesHalf(run)) {
    return;
  }
  out.Add(Supports("model", "the weights are float16: gradients below 6e-8 become zero"));
  out.Add(Supports("tensor",
                   "gradients of " + HumanNumber(zero->Number("tensors").value_or(0)) + " of " +
                       HumanNumber(zero->Number("of").value_or(0)) +
                       " tensors were exactly zero (" + zero->series + ")",
                   zero->facts));
}

}  // namespace whystop
