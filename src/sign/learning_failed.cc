#include "sign/learning_failed.h"

#include "model/observations.h"
#include "sign/exit_reason.h"
#include "sign/guessing.h"
#include "sign/learning.h"
#include "sign/loop_exit.h"
#include "sign/loss_calls.h"
#include "sign/nan.h"
#include "sign/near_guessing.h"
#include "sign/policy.h"
#include "sign/target_mean.h"

namespace whystop {
namespace {

/// A classifier that ends worse than by guessing, after it had time, and still far from there. A
/// loss that is summed over the batch is high too, but falls by most of its height.
bool EndsWorseThanGuessing(const CaseFile& run, const LearningView& learning) {
  const auto guess = LossOfGuessing(run);
  if (!guess || learning.basis == nullptr || learning.basis->Number("points").value_or(0) < 50 ||
      IsSumOfCalls(run, *learning.basis, *guess)) {
    return false;
  }
  const double last = learning.basis->Number("last").value_or(0);
  const double first = learning.basis->Number("first").value_or(0);
  // Outputs far from zero make a loss high by themselves, and it may fall a long way in vain.
  return last > 1.5 * *guess && (CanBeTheMeanOverSamples(run, first) || last > 0.3 * first);
}

/// The same of a regression: a constant would do better, after it had time.
bool EndsWorseThanTheMean(const CaseFile& run, const LearningView& learning) {
  if (learning.basis == nullptr || learning.basis->Number("points").value_or(0) < 50) {
    return false;
  }
  const double last = learning.basis->Number("last").value_or(0);
  const auto mean = LossOfTheMean(run, learning.basis->Number("first").value_or(0), last);
  return mean && last > 1.5 * *mean;
}

}  // namespace

bool LearningFailed(const CaseFile& run) {
  const LearningView learning = LearningOf(run);
  if (LossLost(run) != nullptr || ReasonOf(FinalExit(run)) == ExitReason::kNotFinite || learning.Bad()) {
    return true;
  }
  // What a policy's critic compares its guesses with moves as the policy does.
  return !EarnsReward(run) && (EndsWorseThanGuessing(run, learning) || EndsWorseThanTheMean(run, learning) || MissesTheMean(run));
}

bool NotSeenToLearn(const CaseFile& run) {
  constexpr double kPointsMin = 20;
  const LearningView learning = LearningOf(run);
  const double points =
      learning.basis == nullptr ? 0 : learning.basis->Number("points").value_or(0);
  // However noisy its loss is. Of a regression the level of guessing is but a bound.
  const double share = ShareOfGuessing(run);
  const bool knows_its_task = share > 0 && share < (LossOfGuessing(run).has_value() ? 0.5 : 0.05);
  return LearningFailed(run) || (!learning.Good() && points >= kPointsMin && !knows_its_task);
}

}  // namespace whystop
