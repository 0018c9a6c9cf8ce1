#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighBadInitScale(const CaseFile& run, Hypothesis& out) {
  const Finding* odd = run.FindFirst("weights/initial-scale");
  if (odd == nullptr || !LearningFailed(run) || run.FindFirst("data/not-finite") != nullptr) {
    return;
  }
  out.Add(Decisive("tensor",
                   odd->series + " began with weights of size " +
                       HumanNumber(odd->Number("rms").value_or(0)) + "; " +
                       HumanNumber(odd->Number("tensors").value_or(0)) + " of " +
                       HumanNumber(odd->Number("of").value_or(0)) + " weight tensors are like that",
                   odd->facts));
}

}  // namespace whystop
