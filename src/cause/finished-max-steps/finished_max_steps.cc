#include "sign/account/account.h"
#include "cause/evidence.h"
#include "sign/loop_facts.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighFinishedMaxSteps(const CaseFile& run, Hypothesis& out) {
  const Observation* exit = FinalExit(run);
  if (run.ExitCode() != 0 || exit == nullptr || ReadAccount(run).IsShort()) {
    return;
  }
  const ExitReason reason = ReasonOf(exit);
  const auto turn = exit->Number("turn");
  const auto planned = exit->Number("planned");
  const bool all_turns = !turn || !planned || *turn >= *planned;
  if (reason == ExitReason::kStepBudget ||
      (reason == ExitReason::kEnd && TextOf(*exit, "role") == "steps" && all_turns)) {
    out.Add(Decisive("loop", (reason == ExitReason::kEnd
                                  ? "the loop ran to its end"
                                  : "the step budget was reached: " + DescribeExit(*exit)) +
                                 DescribeTurn(*exit)));
  }
}

}  // namespace whystop
