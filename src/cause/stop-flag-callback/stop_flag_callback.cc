#include "cause/evidence.h"
#include "cause/weighers.h"
#include "sign/account/account.h"
#include "sign/exit_reason.h"
#include "sign/framework_stop.h"
#include "sign/loop_exit.h"

namespace whystop {

void WeighStopFlagCallback(const CaseFile& run, Hypothesis& out) {
  const Observation* exit = FinalExit(run);
  if (AskedToEnd(run) != nullptr) {
    return;  // The flag of a handler: the signal is the reason.
  }
  if (ReasonOf(exit) == ExitReason::kStopFlag) {
    Evidence evidence = Decisive("loop", "something set the flag under which the loop is left: " +
                                             DescribeExit(*exit) + DescribeTurn(*exit));
    evidence.place = PlaceOf(*exit);
    out.Add(std::move(evidence));
    return;
  }
  const Observation* stop = FrameworkStop(run);
  if (stop == nullptr || ReasonOfStop(run, *stop) != ExitReason::kStopFlag) {
    return;
  }
  Evidence evidence = Decisive("framework", DescribeStop(*stop));
  evidence.place = PlaceOf(*stop);
  out.Add(std::move(evidence));
}

}  // namespace whystop
