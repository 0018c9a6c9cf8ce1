#include "cause/evidence.h"
#include "cause/weighers.h"
#include "sign/exit_reason.h"
#include "sign/framework_stop.h"
#include "sign/loop_exit.h"

namespace whystop {

void WeighTimeBudgetReached(const CaseFile& run, Hypothesis& out) {
  const Observation* exit = FinalExit(run);
  const Observation* stop = FrameworkStop(run);
  if (ReasonOf(exit) == ExitReason::kTimeBudget) {
    Evidence evidence = Decisive("loop", "the time was up: " + DescribeExit(*exit) + DescribeTurn(*exit));
    evidence.place = PlaceOf(*exit);
    out.Add(std::move(evidence));
  } else if (stop != nullptr && ReasonOfStop(run, *stop) == ExitReason::kTimeBudget) {
    Evidence evidence = Decisive("framework", DescribeStop(*stop));
    evidence.place = PlaceOf(*stop);
    out.Add(std::move(evidence));
  }
}

}  // namespace whystop
