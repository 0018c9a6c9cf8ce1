#include <algorithm>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/exception_facts.h"
#include "sign/exit_reason.h"
#include "sign/loop_exit.h"

namespace whystop {
namespace {

/// A `break` that leaves most of the data out: of every pass the same part, or so much that the whole run has not seen
/// the data once. A limit on the batches of an epoch whose data is drawn anew each time is a way to train.
bool LeavesDataOut(const CutPasses& cut) {
  constexpr double kTenth = 0.1;
  const double share = cut.batches_done / cut.batches_planned;
  return !cut.shuffled || share < kTenth || static_cast<double>(cut.passes) * share < 1;
}

void WeighCutPasses(const CaseFile& run, Hypothesis& out) {
  const auto cut = ReadAccount(run).cut_passes;
  if (!cut || WhatCut(run, *cut) != CutBy::kStatement || !LeavesDataOut(*cut)) {
    return;
  }
  const Observation* plan = PlanOfBatches(run, *cut);
  const auto plan_seen = As<seen::LoopPlan>(plan);
  const std::string way_out =
      cut->exit != nullptr ? DescribeExit(*cut->exit)
                           : "the only statement that can, at line " + plan_seen.exit_lines.value_or("") +
                                 " under `" + plan_seen.only_exit.value_or("") + "`";
  Evidence evidence = Decisive(
      "loop", "of every pass over the data about " + HumanNumber(cut->batches_done) + " of " +
                  HumanNumber(cut->batches_planned) + " batches were taken, in " +
                  HumanCount(cut->cut) + " passes: the batch loop was left by " +
                  way_out);
  if (cut->exit != nullptr) {
    evidence.place = PlaceOf(*cut->exit);
  }
  out.Add(std::move(evidence));
}

/// The program ended by itself in the middle of its loops, without the interpreter's own end.
void WeighSuddenExit(const CaseFile& run, Hypothesis& out) {
  const Account account = ReadAccount(run);
  if (!LeftWithoutCleanUp(run) || !account.IsShort() || AskedToEnd(run) != nullptr) {
    return;
  }
  out.Add(Decisive("exit-status",
                   "the process left with status " + std::to_string(run.ExitCode().value_or(0)) +
                       " in the middle of its training and without the interpreter's clean-up: os._exit(), or "
                       "native code that ends the process"));
}

/// All that is known is what the program printed: it ended with 0, long before its own count was full.
void WeighPrintedCount(const CaseFile& run, Hypothesis& out) {
  const Account account = ReadAccount(run);
  const bool by_epochs = account.epochs.told_by == "log";
  const LevelAccount& level = by_epochs ? account.epochs : account.steps;
  if (!run.watched || run.ExitCode() != 0 || level.told_by != "log" || !level.IsShort() ||
      AskedToEnd(run) != nullptr || FindEndingException(run) != nullptr || FinalExit(run) != nullptr) {
    return;
  }
  out.Add(Supports("log-line", std::string("the last count that it printed was ") + (by_epochs ? "epoch " : "step ") +
                                   HumanNumber(*level.done, 9) + " of " + HumanNumber(*level.planned, 9)));
  out.Add(Supports("exit-status", "it ended with 0, by no signal and without a traceback: a `return`, a `break` or an "
                                  "exit of the program in the middle of its loop"));
}

}  // namespace

void WeighPrematureReturn(const CaseFile& run, Hypothesis& out) {
  const Observation* framework = run.FindObservation("framework");
  const auto framework_seen = As<seen::Framework>(framework);
  if (framework != nullptr &&
      (framework_seen.fast_dev_run.value_or(0) > 0 || framework_seen.overfit_batches.value_or(0) > 0)) {
    out.Add(Decisive(
        "framework",
        framework_seen.name.value_or("") + " was told to make a trial run only (" +
            (framework_seen.fast_dev_run.value_or(0) > 0 ? "fast_dev_run" : "overfit_batches") + ")"));
    return;
  }
  WeighCutPasses(run, out);
  WeighSuddenExit(run, out);
  WeighPrintedCount(run, out);
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) != ExitReason::kOther || As<seen::LoopExit>(*exit).how == "raise" ||
      AskedToEnd(run) != nullptr) {
    return;
  }
  Evidence evidence =
      Decisive("loop", "the loop was left by " + DescribeExit(*exit) + DescribeTurn(*exit));
  evidence.place = PlaceOf(*exit);
  out.Add(std::move(evidence));
}

}  // namespace whystop
