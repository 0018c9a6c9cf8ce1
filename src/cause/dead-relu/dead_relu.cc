#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighDeadRelu(const CaseFile& run, Hypothesis& out) {
  const Finding* dead = run.FindFirst("activation/dead");
  if (dead == nullptr || !LearningFailed(run) || LossLost(run) != nullptr) {
    return;
  }
  out.Add(Decisive("tensor", Percent(dead->Number("share").value_or(0)) + " of the units of " + dead->series + " are zero for every sample", dead->facts));
  if (const Finding* zero = run.FindFirst("gradient/zero")) {
    out.Add(Supports("tensor", "gradients of " + zero->series + " are exactly zero", zero->facts));
  }
}

}  // namespace whystop
