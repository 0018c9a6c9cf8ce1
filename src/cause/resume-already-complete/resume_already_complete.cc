#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighResumeAlreadyComplete(const CaseFile& run, Hypothesis& out) {
  const Observation* framework = run.FindObservation("framework");
  if (framework == nullptr) {
    return;
  }
  const double steps = NumberOf(*framework, "steps");
  const double start = NumberOf(*framework, "start_step");
  if (steps > 0 && start >= steps) {
    out.Add(Decisive("framework", "training resumed at step " + HumanNumber(start, 9) + " of " + HumanNumber(steps, 9) + ": nothing was left to do"));
    out.Fix("raise the number of steps or epochs above what the checkpoint has reached, or start afresh");
  }
}

}  // namespace whystop
