#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighUnscaledTargets(const CaseFile& run, Hypothesis& out) {
  const auto size = RegressionTargetSize(run);
  const bool hurt = NotSeenToLearn(run) || ShareOfGuessing(run) > 0.7;
  if (!size || *size < 30 || !hurt || run.FindFirst("data/not-finite") != nullptr) {
    return;
  }
  const auto calls = LossCalls(run, {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"});
  const std::string text =
      "targets have mean " + HumanNumber(NumberOf(*calls.front(), "target_mean")) + " and spread " +
      HumanNumber(NumberOf(*calls.front(), "target_std")) + ", the first outputs spread " +
      HumanNumber(NumberOf(*calls.front(), "input_std"));
  const bool far = *size > 10 * OutputSize(*calls.front());
  out.Add(far ? Decisive("loss-call", text) : Supports("loss-call", text));
  out.Fix("subtract the mean " + HumanNumber(NumberOf(*calls.front(), "target_mean")) +
          " from the targets and divide by " + HumanNumber(NumberOf(*calls.front(), "target_std")) +
          "; undo it on the predictions");
}

}  // namespace whystop
