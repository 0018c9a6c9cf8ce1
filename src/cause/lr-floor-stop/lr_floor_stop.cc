#include "cause/evidence.h"
#include "cause/weighers.h"
#include "sign/exit_reason.h"
#include "sign/loop_exit.h"

namespace whystop {

/// The loop compares a learning rate with a floor of its own: a rate is no goal.
void WeighLrFloorStop(const CaseFile& run, Hypothesis& out) {
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) != ExitReason::kRateFloor) {
    return;
  }
  Evidence evidence = Decisive("loop", DescribeExit(*exit) + DescribeTurn(*exit));
  evidence.place = PlaceOf(*exit);
  out.Add(std::move(evidence));
}

}  // namespace whystop
