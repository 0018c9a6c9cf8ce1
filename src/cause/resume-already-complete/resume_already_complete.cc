#include <string>

#include "base/human.h"
#include "cause/evidence.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

namespace {

/// A loop over what is left to train: its header began at or behind its end.
void WeighLoop(const CaseFile& run, Hypothesis& out) {
  const Observation* loop = run.FindObservation("loop-never-turned");
  if (loop == nullptr || NumberOf(*loop, "start") <= 0) {
    return;
  }
  const std::string values = TextOf(*loop, "values");
  out.Add(Decisive("loop", "the training loop over `" + TextOf(*loop, "over") + "` made no turn" +
                               (values.empty() ? "" : ": " + values)));
  out.Fix(
      "raise the number of steps or epochs above what the checkpoint has reached, or start afresh");
}

}  // namespace

void WeighResumeAlreadyComplete(const CaseFile& run, Hypothesis& out) {
  WeighLoop(run, out);
  const Observation* framework = run.FindObservation("framework");
  if (framework == nullptr) {
    return;
  }
  const double steps = NumberOf(*framework, "steps");
  const double start = NumberOf(*framework, "start_step");
  if (steps > 0 && start >= steps) {
    out.Add(Decisive("framework", "training resumed at step " + HumanNumber(start, 9) + " of " +
                                      HumanNumber(steps, 9) + ": nothing was left to do"));
    out.Fix(
        "raise the number of steps or epochs above what the checkpoint has reached, or start "
        "afresh");
  }
}

}  // namespace whystop
