#include "cause/evidence.h"
#include "sign/loop_facts.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighStopOnNan(const CaseFile& run, Hypothesis& out) {
  const Observation* stop = FrameworkStop(run);
  if (stop != nullptr && ReasonOfStop(run, *stop) == ExitReason::kNotFinite) {
    Evidence evidence =
        Decisive("framework", DescribeStop(*stop) + ", because the loss was no longer finite");
    evidence.place = PlaceOf(*stop);
    out.Add(std::move(evidence));
    return;
  }
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
