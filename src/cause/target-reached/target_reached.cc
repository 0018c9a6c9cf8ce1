#include "cause/evidence.h"
#include "cause/weighers.h"
#include "sign/exit_reason.h"
#include "sign/framework_stop.h"
#include "sign/loop_exit.h"

namespace whystop {

void WeighTargetReached(const CaseFile& run, Hypothesis& out) {
  const Observation* stop = FrameworkStop(run);
  if (stop != nullptr && ReasonOfStop(run, *stop) == ExitReason::kTarget) {
    Evidence evidence = Decisive("framework", "the goal was reached: " + DescribeStop(*stop));
    evidence.place = PlaceOf(*stop);
    out.Add(std::move(evidence));
    return;
  }
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) != ExitReason::kTarget) {
    return;
  }
  Evidence evidence =
      Decisive("loop", "the goal was reached: " + DescribeExit(*exit) + DescribeTurn(*exit));
  evidence.place = PlaceOf(*exit);
  out.Add(std::move(evidence));
}

}  // namespace whystop
