#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/exception_facts.h"
#include "sign/loop_exit.h"
#include "sign/observed.h"

namespace whystop {
namespace {

// The epoch of the last step is an upper bound, which may lie one or two too high: half of the
// epochs are no matter of that.
constexpr double kTurnsMin = 4;
constexpr double kSteppedShareMax = 0.5;

/// The loop over epochs went on to its end, but only the first of them made steps.
void WeighEmptyTurns(const Observation* exit, Hypothesis& out) {
  const auto exit_seen = As<seen::LoopExit>(exit);
  if (exit == nullptr || exit_seen.how != "end" || exit_seen.role != "epochs" ||
      !exit_seen.stepped_in_turn) {
    return;
  }
  const double turns = exit_seen.turn.value_or(0);
  const double stepped = OrZero(exit_seen.stepped_in_turn);
  if (turns < kTurnsMin || stepped > kSteppedShareMax * turns) {
    return;
  }
  out.Add(Decisive("loop", "the last step was made in epoch " + HumanNumber(stepped) + " of " +
                               HumanNumber(turns) + ": the loop over `" +
                               exit_seen.batches_over.value_or("") + "` found nothing more after that"));
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
