#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/exit_reason.h"
#include "sign/loop_exit.h"

namespace whystop {

void WeighFinishedMaxSteps(const CaseFile& run, Hypothesis& out) {
  const Account account = ReadAccount(run);
  if (run.ExitCode() == 0 && StopRequest(run) == nullptr && !account.IsShort() && EndedByItsStepBudget(run, account)) {
    out.Add(Decisive("framework", "the trainer made all of the steps that were planned: " + HumanNumber(*account.steps.done, 9) +
                                      " of " + HumanNumber(*account.steps.planned, 9)));
    return;
  }
  const Observation* exit = FinalExit(run);
  const auto exit_seen = As<seen::LoopExit>(exit);
  if (run.ExitCode() != 0 || exit == nullptr || account.IsShort()) {
    return;
  }
  const ExitReason reason = ReasonOf(exit);
  const auto turn = exit_seen.turn;
  const auto planned = exit_seen.planned;
  const bool all_turns = !turn || !planned || *turn >= *planned;
  if (reason == ExitReason::kStepBudget ||
      (reason == ExitReason::kEnd && exit_seen.role == "steps" && all_turns)) {
    out.Add(Decisive("loop", (reason == ExitReason::kEnd
                                  ? "the loop ran to its end"
                                  : "the step budget was reached: " + DescribeExit(*exit)) +
                                 DescribeTurn(*exit)));
  }
}

}  // namespace whystop
