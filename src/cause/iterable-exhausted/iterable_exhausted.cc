#include "base/human.h"
#include "cause/evidence.h"
#include "sign/exception_facts.h"
#include "sign/loop_facts.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

// The epoch of the last step is an upper bound, which may lie one or two too high: half of the
// epochs are no matter of that.
constexpr double kTurnsMin = 4;
constexpr double kSteppedShareMax = 0.5;

/// The loop over epochs went on to its end, but only the first of them made steps.
void WeighEmptyTurns(const Observation* exit, Hypothesis& out) {
  if (exit == nullptr || TextOf(*exit, "how") != "end" || TextOf(*exit, "role") != "epochs" ||
      !exit->Number("stepped_in_turn")) {
    return;
  }
  const double turns = NumberOf(*exit, "turn");
  const double stepped = NumberOf(*exit, "stepped_in_turn");
  if (turns < kTurnsMin || stepped > kSteppedShareMax * turns) {
    return;
  }
  out.Add(Decisive("loop", "the last step was made in epoch " + HumanNumber(stepped) + " of " +
                               HumanNumber(turns) + ": the loop over `" +
                               TextOf(*exit, "batches_over") + "` found nothing more after that"));
  out.Fix("make the iterator anew at the start of each epoch");
}

}  // namespace

void WeighIterableExhausted(const CaseFile& run, Hypothesis& out) {
  if (const ExceptionSeen* last = FindEndingException(run);
      last != nullptr && last->type == "StopIteration") {
    out.Add(Decisive("exception", DescribeException(*last) + ": next() found nothing more"));
    return;
  }
  const Observation* exit = run.FindObservation("loop-exit");
  WeighEmptyTurns(exit, out);
  if (exit == nullptr || ErrorOf(*exit) != "StopIteration") {
    return;
  }
  Evidence evidence = Decisive("loop", "next() found nothing more: StopIteration, and " +
                                           DescribeExit(*exit) + DescribeTurn(*exit));
  evidence.place = PlaceOf(*exit);
  out.Add(std::move(evidence));
}

}  // namespace whystop
