#include "sign/left_by_exception.h"

#include <algorithm>
#include <cstddef>

#include "base/human.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/framework_stop.h"
#include "sign/observed.h"

namespace whystop {
namespace {

std::optional<PlanKept> PlanWithoutAWayOut(const CaseFile& run) {
  const auto told = OfTraining(run, "loop-plan");
  const double levels = told.empty() ? 0 : OrZero(As<seen::LoopPlan>(*told.back()).levels);
  if (levels < 1 || static_cast<double>(told.size()) < levels) {
    return std::nullopt;
  }
  PlanKept kept{.planned = 1};
  for (auto level = told.end() - static_cast<std::ptrdiff_t>(levels); level != told.end();
       ++level) {
    const auto level_seen = As<seen::LoopPlan>(*level);
    // A generator that each epoch makes anew tells no length.
    const bool last = level + 1 == told.end();
    const bool unending = last && levels >= 2 && !level_seen.planned && level_seen.over.value_or("").ends_with(')');
    const double planned = unending ? 0 : level_seen.planned.value_or(0);
    if (level_seen.kind != "for" || OrZero(level_seen.exits) > 0 || (planned < 1 && !unending)) {
      return std::nullopt;
    }
    kept.planned *= planned;
    kept.epochs = level_seen.role == "epochs" ? planned : kept.epochs;
  }
  kept.epoch = run.progress.epoch.value_or(0);
  const auto counts = CountsOf(run);
  kept.made = std::max({OrZero(counts.steps), OrZero(counts.backwards), OrZero(counts.loss_calls),
                        OrZero(counts.batches)});
  return kept;
}

/// Since the epoch was looked at last fewer steps were made than an epoch has: it is still that one, or the next.
bool EpochIsFresh(const CaseFile& run, const PlanKept& kept) {
  const double step = static_cast<double>(run.progress.step.value_or(0));
  return kept.epochs > 0 && run.progress.epoch && kept.made - step < step / std::max(1.0, kept.epoch);
}

}  // namespace

std::optional<PlanKept> LeftByAnException(const CaseFile& run) {
  constexpr double kShareMax = 0.75;  // Epochs may differ in length.
  const auto kept = PlanWithoutAWayOut(run);
  if (!kept || kept->made < 1 || run.ExitCode() != 0 ||
      run.job_alive || !run.signals.empty() || LastOfTraining(run, "loop-exit") != nullptr ||
      FrameworkStop(run) != nullptr) {
    return std::nullopt;
  }
  const bool short_of_it = kept->planned > 0 ? kept->made <= kShareMax * kept->planned : EpochIsFresh(run, *kept);
  if (!short_of_it) {
    return std::nullopt;
  }
  // A loop that leaves most of its turns out makes few steps and yet comes to its end.
  const bool near_its_end =
      kept->epochs > 0
          ? kept->epoch + 1 > kShareMax * std::max(kept->epochs, 2.0)
          : static_cast<double>(run.progress.step.value_or(0)) > kShareMax * kept->planned;
  return near_its_end ? std::nullopt : kept;
}

std::string DescribePlanKept(const PlanKept& kept) {
  return kept.planned > 0 ? HumanNumber(kept.made) + " of " + HumanNumber(kept.planned) + " planned steps were made"
                          : HumanNumber(kept.epoch) + " of " + HumanNumber(kept.epochs) + " planned epochs were begun";
}

}  // namespace whystop
