#include "sign/says_less.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/guessing.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {
namespace {

/// A likelihood or a bound, some of which are annealed: it rose, and neither ran away nor turned positive.
bool StaysBelowZero(const Finding& loss) {
  constexpr double kOfItsBest = 0.2;
  const auto number = [&loss](const char* name) { return loss.Number(name).value_or(0); };
  return number("not_finite") == 0 && number("begin") < 0 && number("worst") < 0 && number("last") < kOfItsBest * number("best");
}

}  // namespace

bool TakesBothSigns(const Finding& loss) {
  const auto number = [&loss](const char* name) { return loss.Number(name).value_or(0); };
  const double seen = std::max({std::abs(number("begin")), std::abs(number("first")), std::abs(number("best"))});
  return number("not_finite") == 0 && number("best") < 0 && number("worst") > 0 && std::abs(number("last")) <= seen;
}

bool TrainsAdversaries(const CaseFile& run) {
  double optimizers = 0;
  bool named = false;
  for (const Observation* seen : ObservationsOf(run, "optimizer")) {
    optimizers += As<seen::Optimizer>(*seen).name ? 1 : 0;
  }
  for (const Observation* model : ObservationsOf(run, "model")) {
    const auto seen = As<seen::Model>(*model);
    named = named || MentionsAny(seen.name.value_or("") + " " + seen.parts.value_or(""), {"discriminator", "critic", "generator"});
  }
  return optimizers > 1 && named;
}

bool HasOtherLosses(const CaseFile& run) {
  constexpr double kEnough = 10;
  return OrZero(CountsOf(run).other_losses) >= kEnough;
}

void SayLessOfOtherLosses(const CaseFile& run, LearningView& view) {
  const bool lost =
      view.basis == nullptr || view.basis->Number("not_finite_at_end").value_or(0) > 0;
  const bool of_loss = !lost && FactText(*view.basis, "role") == "train-loss";
  if (!of_loss || view.state == Learning::kUnknown) {
    return;
  }
  if (TrainsAdversaries(run)) {
    view.text = fmt::format("{} {:.4g} -> {:.4g} over {} points, of models that work against each "
                            "other: their losses need not fall; what the generator makes would tell",
                            view.basis->series, view.basis->Number("first").value_or(0),
                            view.basis->Number("last").value_or(0),
                            view.basis->Number("points").value_or(0));
    view.state = Learning::kUnknown;
  } else if (view.Bad() && HasOtherLosses(run)) {
    view.state = Learning::kUnknown;
    view.text += ", but it is one of several losses, each with an optimizer of its own, and such "
                 "losses may work against each other";
  }
}

void SayLessBelowZero(LearningView& view) {
  if (view.state != Learning::kDiverged || view.basis == nullptr) {
    return;
  }
  if (StaysBelowZero(*view.basis)) {
    view.state = Learning::kUnknown;
    view.text += ": below zero, where what a loss is measured by may move with the training";
  } else if (TakesBothSigns(*view.basis)) {
    view.state = Learning::kUnknown;
    view.text += ": of both signs, a difference that need not fall; a score or a return would tell";
  }
}

/// The first score is told after an epoch, in which all may have been learned: more than half of the answers right is what guessing
/// gets only where one class prevails.
void SayLessOfAFlatScore(const CaseFile& run, LearningView& view) {
  constexpr double kMoreThanHalf = 0.55;
  constexpr double kBesideGuessing = 0.02;
  if (view.state != Learning::kNeverLearned || view.basis == nullptr || !FactText(*view.basis, "role").ends_with("-score")) {
    return;
  }
  const double last = view.basis->Number("last").value_or(0);
  const double rate = last > 1 ? last / 100 : last;
  const auto guess = AccuracyOfGuessing(run);
  if (rate > kMoreThanHalf && rate <= 1 && !(guess && rate <= *guess + kBesideGuessing)) {
    view.state = Learning::kUnknown;
    view.text += "; what guessing would get is not known, and it may have been learned before the first value";
  }
}

/// A plateau before learning sets in is usual: a run that was cut off in its first part, and stands where it began, says nothing yet. Nor
/// does noise say more. Values that are the same to the last bit do.
void SayLessOfABeginning(const CaseFile& run, LearningView& view) {
  const double share = ShareOfPlanDone(run);
  const bool flat = view.state == Learning::kNeverLearned || view.state == Learning::kStalled;
  if (flat && view.basis != nullptr && share > 0 && share < kBarelyBegun && view.basis->Number("identical").value_or(0) == 0) {
    view.state = Learning::kUnknown;
    view.text += fmt::format("; {:.2g} % of what was planned was done: too early to say", 100 * share);
  }
}

}  // namespace whystop
