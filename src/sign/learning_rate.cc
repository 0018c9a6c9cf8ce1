#include "sign/learning_rate.h"

#include <algorithm>
#include <cmath>

#include "model/observations.h"
#include "sign/learning.h"
#include "sign/learning_failed.h"
#include "sign/nan.h"
#include "sign/near_guessing.h"
#include "sign/observed.h"

namespace whystop {

std::optional<double> LearningRate(const CaseFile& run) {
  const auto optimizers = ObservationsOf(run, "optimizer");
  const auto first = As<seen::Optimizer>(optimizers.empty() ? nullptr : optimizers.front());
  if (first.lr) {
    return std::max(*first.lr, first.initial_lr.value_or(0));
  }
  for (const char* detector : {"update/ratio-too-large", "update/ratio-too-small"}) {
    if (const Finding* finding = run.FindFirst(detector)) {
      return finding->Number("lr");
    }
  }
  return std::nullopt;
}

const Finding* RateSpentEarly(const CaseFile& run) {
  const Finding* decayed = run.FindFirst("lr/decayed-early");
  if (decayed == nullptr || LossLost(run) != nullptr) {
    return nullptr;
  }
  const double share = decayed->Number("share").value_or(0);
  const bool nearly_all_along = share > 0.8 && NotSeenToLearn(run);
  // Such a loss levels off because nothing moves any more, far from where it could be.
  const bool gone_at_once =
      share > 0.5 && ShareOfGuessing(run) > 0.5 &&
      decayed->Number("last").value_or(1) < 1e-4 * decayed->Number("highest").value_or(0);
  // A rate that is a millionth of itself for nearly the whole run has trained with its first steps alone.
  const bool gone_for_good = share > 0.8 && ShareOfGuessing(run) > 0.2 &&
                             decayed->Number("last").value_or(1) < 1e-6 * decayed->Number("highest").value_or(0);
  return LearningOf(run).Bad() || nearly_all_along || gone_at_once || gone_for_good ? decayed : nullptr;
}

double RoundFactor(double value, double factor) {
  const double wanted = value * factor;
  if (!(wanted > 0) || !std::isfinite(wanted)) {
    return wanted;
  }
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  const double digit = wanted / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

}  // namespace whystop
