#include "base/human.h"
#include "cause/evidence.h"
#include "sign/loop_facts.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

/// Epochs of a framework that ended before their plan, though nobody asked for it. The first epoch
/// of a data set of unknown length is its plan.
bool WeighShortEpochs(const CaseFile& run, Hypothesis& out) {
  const Observation* end = run.FindObservation("framework-end");
  if (end == nullptr || NumberOf(*end, "short_epochs") < 1) {
    return false;
  }
  out.Add(Decisive("framework",
                   "epoch " + HumanNumber(NumberOf(*end, "first_short_epoch")) + " made " +
                       HumanNumber(NumberOf(*end, "first_short_batches"), 9) + " of " +
                       HumanNumber(NumberOf(*end, "batches"), 9) + " batches: the data ran out; " +
                       HumanNumber(NumberOf(*end, "short_epochs")) + " of " +
                       HumanNumber(NumberOf(*end, "epochs_done")) + " epochs were cut so"));
  return true;
}

}  // namespace

void WeighDataRanOut(const CaseFile& run, Hypothesis& out) {
  if (WeighShortEpochs(run, out)) {
    return;
  }
  const Observation* exit = FinalExit(run);
  // A `while` takes no data: its condition turned false.
  if (exit == nullptr || TextOf(*exit, "how") != "end" || !TextOf(*exit, "condition").empty()) {
    return;
  }
  const auto turn = exit->Number("turn");
  const auto planned = exit->Number("planned");
  if (turn && planned && *planned > 1 && *turn < 0.95 * *planned) {
    out.Add(Decisive("loop", "the loop ran out of data" + DescribeTurn(*exit)));
  }
}

}  // namespace whystop
