#include "base/human.h"
#include "cause/evidence.h"
#include "cause/loop_facts.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighStopFlagCallback(const CaseFile& run, Hypothesis& out) {
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) == ExitReason::kStopFlag) {
    Evidence evidence = Decisive("loop", "something set the flag under which the loop is left: " +
                                             DescribeExit(*exit) + DescribeTurn(*exit));
    evidence.place = PlaceOf(*exit);
    out.Add(std::move(evidence));
    return;
  }
  const Observation* stop = run.FindObservation("framework-stop");
  if (stop == nullptr || stop->Number("patience") || stop->Number("early_stopping_patience")) {
    return;
  }
  const std::string path = TextOf(*stop, "file");
  Evidence evidence =
      Decisive("framework", TextOf(*stop, "who") + "." + TextOf(*stop, "function") +
                                " set the stop flag of " + TextOf(*stop, "framework") + " at " +
                                path.substr(path.find_last_of('/') + 1) + ":" +
                                HumanNumber(NumberOf(*stop, "line"), 9));
  evidence.place = {path, static_cast<std::int64_t>(NumberOf(*stop, "line"))};
  out.Add(std::move(evidence));
}

}  // namespace whystop
