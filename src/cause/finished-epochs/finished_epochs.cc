#include "base/human.h"
#include "sign/account/account.h"
#include "cause/evidence.h"
#include "sign/loop_facts.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighFinishedEpochs(const CaseFile& run, Hypothesis& out) {
  const Observation* exit = FinalExit(run);
  const bool done = run.progress.epoch && run.progress.epochs_planned &&
                    *run.progress.epoch >= *run.progress.epochs_planned;
  const Observation* idle = run.FindObservation("no-training");
  const bool to_train = run.FindObservation("loader") != nullptr ||
                        (idle != nullptr && idle->Number("optimizers").value_or(0) > 0);
  if (to_train && Counted(run, "steps") == 0.0) {
    out.Add(Contradicts("calls", "not one step was made"));
  }
  if (const auto kept = LeftByAnException(run)) {
    out.Add(Contradicts("loop", HumanNumber(kept->made) + " of " + HumanNumber(kept->planned) +
                                    " planned steps were made"));
  }
  const Account account = ReadAccount(run);
  if (account.cut_passes && WhatCut(run, *account.cut_passes) == CutBy::kException) {
    return;  // The epochs ran, and left the rest of their data out.
  }
  if (run.ExitCode() != 0 || FrameworkStop(run) != nullptr || LastFailedCall(run) != nullptr || account.IsShort()) {
    return;
  }
  if (account.steps.told_by == "framework" || account.epochs.told_by == "framework") {
    const LevelAccount& level = account.steps.told_by == "framework" ? account.steps : account.epochs;
    out.Add(Decisive("framework", "the trainer came to the end of its plan: " +
                                      HumanNumber(*level.done, 9) + " of " +
                                      HumanNumber(*level.planned, 9) +
                                      (&level == &account.steps ? " steps" : " epochs")));
    return;
  }
  if (Counted(run, "steps") == 0.0 && Counted(run, "backwards") == 0.0) {
    return;  // Turns of the loop without a step are no training: something else is to be told.
  }
  if (ReasonOf(exit) == ExitReason::kEnd && TextOf(*exit, "role") != "steps") {
    const auto turn = exit->Number("turn");
    const auto planned = exit->Number("planned");
    if (!turn || !planned || *turn >= *planned) {
      out.Add(Decisive("loop", "the loop ran to its end" + DescribeTurn(*exit)));
    }
  } else if (exit == nullptr && done) {
    out.Add(Decisive("progress", "all " + HumanNumber(*run.progress.epochs_planned) +
                                     " epochs ran, and the program returned 0"));
  }
}

}  // namespace whystop
