#include "sign/account/account.h"
#include "cause/evidence.h"
#include "sign/loop_facts.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighEarlyStopNonfinite(const CaseFile& run, Hypothesis& out) {
  if (!SomeLossLost(run)) {
    return;
  }
  const Observation* stop = FrameworkStop(run);
  if (stop != nullptr && ReasonOfStop(run, *stop) == ExitReason::kPatience) {
    out.Add(Decisive("framework", TextOf(*stop, "who") + " asked " + TextOf(*stop, "framework") +
                                      " to stop after the loss was no longer finite"));
    return;
  }
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) == ExitReason::kPatience) {
    Evidence evidence =
        Decisive("loop", "the loss was no longer a number, which is never better than the best: " +
                             DescribeExit(*exit) + DescribeTurn(*exit));
    evidence.place = PlaceOf(*exit);
    out.Add(std::move(evidence));
  }
}

}  // namespace whystop
