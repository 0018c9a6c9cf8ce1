#include "cause/evidence.h"
#include "cause/loop_facts.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighStopOnNan(const CaseFile& run, Hypothesis& out) {
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) != ExitReason::kNotFinite) {
    return;
  }
  Evidence evidence =
      Decisive("loop", "the loop was left by " + DescribeExit(*exit) + DescribeTurn(*exit));
  evidence.place = PlaceOf(*exit);
  out.Add(std::move(evidence));
}

}  // namespace whystop
