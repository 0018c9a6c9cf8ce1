#include "cause/evidence.h"
#include "sign/loop_facts.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighPrematureReturn(const CaseFile& run, Hypothesis& out) {
  const Observation* framework = run.FindObservation("framework");
  if (framework != nullptr &&
      (NumberOf(*framework, "fast_dev_run") > 0 || NumberOf(*framework, "overfit_batches") > 0)) {
    out.Add(Decisive(
        "framework",
        TextOf(*framework, "name") + " was told to make a trial run only (" +
            (NumberOf(*framework, "fast_dev_run") > 0 ? "fast_dev_run" : "overfit_batches") + ")"));
    return;
  }
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) != ExitReason::kOther || TextOf(*exit, "how") == "raise") {
    return;
  }
  Evidence evidence =
      Decisive("loop", "the loop was left by " + DescribeExit(*exit) + DescribeTurn(*exit));
  evidence.place = PlaceOf(*exit);
  out.Add(std::move(evidence));
}

}  // namespace whystop
