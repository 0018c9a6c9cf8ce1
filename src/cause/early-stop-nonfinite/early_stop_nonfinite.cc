#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/exit_reason.h"
#include "sign/framework_stop.h"
#include "sign/loop_exit.h"
#include "sign/nan.h"

namespace whystop {

void WeighEarlyStopNonfinite(const CaseFile& run, Hypothesis& out) {
  if (!SomeLossLost(run)) {
    return;
  }
  const Observation* stop = FrameworkStop(run);
  const auto stop_seen = As<seen::FrameworkStop>(stop);
  if (stop != nullptr && ReasonOfStop(run, *stop) == ExitReason::kPatience) {
    out.Add(Decisive("framework", stop_seen.who.value_or("") + " asked " + stop_seen.framework.value_or("") +
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
