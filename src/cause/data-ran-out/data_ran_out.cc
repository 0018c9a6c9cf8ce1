#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/loop_exit.h"
#include "sign/observed.h"

namespace whystop {
namespace {

/// Epochs of a framework that ended before their plan, though nobody asked for it. The first epoch
/// of a data set of unknown length is its plan.
bool WeighShortEpochs(const CaseFile& run, Hypothesis& out) {
  const Observation* end = run.FindObservation("framework-end");
  const auto end_seen = As<seen::FrameworkEnd>(end);
  if (end == nullptr || OrZero(end_seen.short_epochs) < 1) {
    return false;
  }
  out.Add(Decisive("framework",
                   "epoch " + HumanNumber(end_seen.first_short_epoch.value_or(0)) + " made " +
                       HumanNumber(OrZero(end_seen.first_short_batches), 9) + " of " +
                       HumanNumber(OrZero(end_seen.batches), 9) + " batches: the data ran out; " +
                       HumanNumber(OrZero(end_seen.short_epochs)) + " of " +
                       HumanNumber(end_seen.epochs_done.value_or(0)) + " epochs were cut so"));
  return true;
}

}  // namespace

void WeighDataRanOut(const CaseFile& run, Hypothesis& out) {
  if (WeighShortEpochs(run, out)) {
    return;
  }
  const Observation* exit = FinalExit(run);
  const auto exit_seen = As<seen::LoopExit>(exit);
  // A `while` takes no data: its condition turned false.
  if (exit == nullptr || exit_seen.how != "end" || !exit_seen.condition.value_or("").empty()) {
    return;
  }
  const auto turn = exit_seen.turn;
  // A stream has no length; the program's own count may have one.
  const auto in_print = exit_seen.role == "steps" && !exit_seen.planned ? ReadAccount(run).steps.planned : std::nullopt;
  const auto planned = in_print ? in_print : exit_seen.planned;
  if (turn && planned && *planned > 1 && *turn < 0.95 * *planned) {
    out.Add(Decisive("loop", "the loop ran out of data" + DescribeTurn(*exit) +
                                 (in_print ? " of the " + HumanNumber(*planned, 9) + " that it printed" : "")));
  }
}

}  // namespace whystop
