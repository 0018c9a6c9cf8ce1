#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighDeadRelu(const CaseFile& run, Hypothesis& out) {
  const Finding* dead = run.FindFirst("activation/dead");
  if (dead == nullptr || LossLost(run) != nullptr) {
    return;
  }
  // A layer that sleeps as a whole lets nothing through, whatever the loss says; part of one may be
  // sparse by design.
  const bool whole =
      dead->Number("share").value_or(0) > 0.999 && run.FindFirst("gradient/zero") != nullptr;
  if (!whole && !LearningFailed(run)) {
    return;
  }
  out.Add(Decisive("tensor",
                   Percent(dead->Number("share").value_or(0)) + " of the units of " + dead->series +
                       " are zero for every sample",
                   dead->facts));
  if (const Finding* zero = run.FindFirst("gradient/zero")) {
    out.Add(Supports("tensor", "gradients of " + zero->series + " are exactly zero", zero->facts));
  }
}

}  // namespace whystop
