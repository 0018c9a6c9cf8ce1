#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighNanHiddenByLogger(const CaseFile& run, Hypothesis& out) {
  const Finding* gradient = run.FindFirst("gradient/not-finite");
  const LearningView learning = LearningOf(run);
  if (gradient == nullptr || learning.basis == nullptr || LossLost(run) != nullptr) {
    return;
  }
  if (gradient->Number("lasting").value_or(0) > 0 && learning.basis->Number("last").value_or(1) == 0) {
    out.Add(Decisive("series", gradient->series + " is not a number to the end while " + learning.basis->series +
                                   " is shown as exactly 0: the logger leaves NaN losses out", gradient->facts));
  }
}

}  // namespace whystop
