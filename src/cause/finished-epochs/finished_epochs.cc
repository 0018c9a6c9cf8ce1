#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/exit_reason.h"
#include "sign/framework_stop.h"
#include "sign/left_by_exception.h"
#include "sign/loop_exit.h"
#include "sign/observed.h"

namespace whystop {

void WeighFinishedEpochs(const CaseFile& run, Hypothesis& out) {
  const Observation* exit = FinalExit(run);
  const auto exit_seen = As<seen::LoopExit>(exit);
  const bool done = run.progress.epoch && run.progress.epochs_planned &&
                    *run.progress.epoch >= *run.progress.epochs_planned;
  const Observation* idle = run.FindObservation("no-training");
  const bool to_train = run.FindObservation("loader") != nullptr ||
                        As<seen::NoTraining>(idle).optimizers.value_or(0) > 0;
  if (to_train && CountsOf(run).steps == 0) {
    out.Add(Contradicts("calls", "not one step was made"));
  }
  if (const auto kept = LeftByAnException(run)) {
    out.Add(Contradicts("loop", DescribePlanKept(*kept)));
  }
  const Account account = ReadAccount(run);
  if (account.cut_passes && WhatCut(run, *account.cut_passes) == CutBy::kException) {
    return;  // The epochs ran, and left the rest of their data out.
  }
  if (run.ExitCode() != 0 || FrameworkStop(run) != nullptr || LastFailedCall(run) != nullptr || account.IsShort()) {
    return;
  }
  if (EndedByItsStepBudget(run, account)) {
    out.Add(Contradicts("framework", "the steps that were planned ended in the middle of an epoch"));
    return;  // finished-max-steps.
  }
  if (account.steps.told_by == "framework" || account.epochs.told_by == "framework") {
    const LevelAccount& level = account.steps.told_by == "framework" ? account.steps : account.epochs;
    out.Add(Decisive("framework", "the trainer came to the end of its plan: " +
                                      HumanNumber(*level.done, 9) + " of " +
                                      HumanNumber(*level.planned, 9) +
                                      (&level == &account.steps ? " steps" : " epochs")));
    return;
  }
  if (CountsOf(run).steps == 0 && CountsOf(run).backwards == 0) {
    return;  // Turns of the loop without a step are no training: something else is to be told.
  }
  if (ReasonOf(exit) == ExitReason::kEnd && exit_seen.role != "steps") {
    const auto turn = exit_seen.turn;
    const auto planned = exit_seen.planned;
    if (!turn || !planned || *turn >= *planned) {
      out.Add(Decisive("loop", "the loop ran to its end" + DescribeTurn(*exit)));
    }
  } else if (exit == nullptr && done) {
    out.Add(Decisive("progress", "all " + HumanNumber(*run.progress.epochs_planned) +
                                     " epochs ran, and the program returned 0"));
  }
}

}  // namespace whystop
