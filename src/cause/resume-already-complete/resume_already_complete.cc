#include <string>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/observed.h"

namespace whystop {

namespace {

/// A loop that goes on from somewhere and made no turn, in a function whose variables are gone.
void WeighLoopOfFunction(const CaseFile& run, const Observation& loop, Hypothesis& out) {
  if (run.ExitCode() != 0) {
    return;
  }
  const auto told = As<seen::LoopNeverTurned>(loop);
  Evidence evidence =
      Supports("loop", "the training loop over `" + told.over.value_or("") + "` in " +
                           told.function.value_or("") + "() made no step, and the program returned 0");
  evidence.place = {told.file.value_or(""), told.line.value_or(0)};
  out.Add(std::move(evidence));
  if (const Observation* idle = run.FindObservation("no-training");
      idle != nullptr && As<seen::NoTraining>(*idle).optimizers.value_or(0) > 0) {
    out.Add(Supports("calls", "an optimizer was made, and not one step"));
  }
  if (const Observation* loaded = run.FindObservation("checkpoint-loaded")) {
    const auto state = As<seen::CheckpointLoaded>(*loaded);
    out.Add(Supports("calls", "the state of an earlier run was loaded into the optimizer" +
                                  (state.steps ? ", after " + HumanNumber(*state.steps, 9) + " steps"
                                               : std::string())));
  }
  out.Fix("raise the number of steps or epochs above what the checkpoint has reached, or start afresh");
}

/// A loop over what is left to train: its header began at or behind its end.
void WeighLoop(const CaseFile& run, Hypothesis& out) {
  const Observation* loop = LoopNeverTurned(run);
  const auto loop_seen = As<seen::LoopNeverTurned>(loop);
  if (loop == nullptr || loop_seen.start.value_or(1) <= 0) {
    return;
  }
  if (!loop_seen.start) {
    WeighLoopOfFunction(run, *loop, out);
    return;
  }
  const std::string values = loop_seen.values.value_or("");
  out.Add(Decisive("loop", "the training loop over `" + loop_seen.over.value_or("") + "` made no turn" +
                               (values.empty() ? "" : ": " + values)));
  out.Fix(
      "raise the number of steps or epochs above what the checkpoint has reached, or start afresh");
}

}  // namespace

void WeighResumeAlreadyComplete(const CaseFile& run, Hypothesis& out) {
  WeighLoop(run, out);
  const Observation* framework = run.FindObservation("framework");
  const auto framework_seen = As<seen::Framework>(framework);
  if (framework == nullptr) {
    return;
  }
  const auto plan = As<seen::Framework>(*framework);
  if (plan.epochs && *plan.epochs > 0 && plan.start_epoch.value_or(0) >= *plan.epochs) {
    out.Add(Decisive("framework", "training was to go on from epoch " + HumanNumber(*plan.start_epoch, 9) +
                                      " of " + HumanNumber(*plan.epochs, 9) + ": nothing was left to do"));
    out.Fix("raise the number of epochs above what the checkpoint has reached, or start afresh");
    return;
  }
  const double steps = framework_seen.steps.value_or(0);
  const double start = OrZero(framework_seen.start_step);
  if (steps > 0 && start >= steps) {
    out.Add(Decisive("framework", "training resumed at step " + HumanNumber(start, 9) + " of " +
                                      HumanNumber(steps, 9) + ": nothing was left to do"));
    out.Fix(
        "raise the number of steps or epochs above what the checkpoint has reached, or start "
        "afresh");
  }
}

}  // namespace whystop
