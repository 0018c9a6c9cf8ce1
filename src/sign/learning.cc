#include "sign/learning.h"

#include <fmt/core.h>

#include <string>

#include "model/observations.h"
#include "sign/answers.h"
#include "sign/beside_guessing.h"
#include "sign/loop_exit.h"
#include "sign/loss_calls.h"
#include "sign/observed.h"
#include "sign/policy.h"
#include "sign/says_less.h"
#include "sign/series_view.h"

namespace whystop {
namespace {

/// A rate that is nearly perfect: a flat loss then means "was good from the start".
bool NearlyPerfect(const Finding* score) {
  return score != nullptr && score->Number("last").value_or(0) > 0.9 &&
         score->Number("last").value_or(0) <= 1;
}

LearningView ByTrainLoss(const CaseFile& run, const Finding& loss, const Finding* score) {
  const Learning state = StateOf(loss);
  const bool finite_end = loss.Number("not_finite_at_end").value_or(0) == 0;
  if (state == Learning::kDiverged && finite_end && Improved(score)) {
    LearningView view = View(loss, Learning::kUnknown);
    view.text = fmt::format("{}, but {} kept improving: the two contradict each other",
                            Describe(loss, Learning::kDiverged), score->series);
    return view;
  }
  if (state == Learning::kNeverLearned && Improved(score) && !KnowsNextToNothing(run, *score)) {
    return View(*score, StateOf(*score));
  }
  if (state == Learning::kNeverLearned && NearlyPerfect(score)) {
    return View(loss, Learning::kConverged);
  }
  return View(loss, state);
}

/// What the held-out loss has to add: it turned long ago.
std::string DescribeOverfitting(const CaseFile& run) {
  constexpr double kMuch = 1.5;
  const Finding* held_out = BestOf(run, "validation-loss");
  const double best = held_out == nullptr ? 0 : held_out->Number("best").value_or(0);
  const double last = held_out == nullptr ? 0 : held_out->Number("last").value_or(0);
  if (best <= 0 || last < kMuch * best || held_out->Number("points").value_or(0) < 4) {
    return {};
  }
  return fmt::format("; but {} rose from its best of {:.4g} to {:.4g}: it overfits",
                     held_out->series, best, last);
}

/// The loss of a classifier on data that stay the same has no reason to rise, and rose from its
/// start on. With two optimizers (adversaries) it may.
bool RoseAllAlong(const CaseFile& run, const Finding& loss) {
  constexpr double kRise = 0.1;
  constexpr double kBestEarly = 0.3;
  const auto calls = LossCalls(run, {"cross_entropy", "nll_loss", "binary_cross_entropy",
                                     "binary_cross_entropy_with_logits"});
  const double first = loss.Number("first").value_or(0);
  const double rise = loss.Number("last").value_or(0) - first;
  return !calls.empty() && ObservationsOf(run, "optimizer").size() == 1 && first > 0 &&
         FactText(loss, "role") == "train-loss" && FactText(loss, "state") == "unclear" &&
         rise > kRise * first && rise > 4 * loss.Number("level_noise").value_or(0) &&
         loss.Number("best_at").value_or(1) < kBestEarly;
}

bool OutputsAreConstant(const CaseFile& run) {
  const Observation* call = run.FindObservation("loss-call");
  const bool late = call != nullptr && (OrZero(As<seen::LossCall>(*call).call) >= 10 || call->step.value_or(0) >= 100);
  return late && (GivesOneAnswer(*call, 1e-3) || GivesOneAnswerBesideTargets(*call, 1e-3));
}

LearningView BySeries(const CaseFile& run) {
  const Observation* exit = FinalExit(run);
  if (LeftForALossNotFinite(run)) {
    return {Learning::kDiverged, BestOf(run, "train-loss"),
            "the loss was not a finite number when " + DescribeExit(*exit) + " ended the loop"};
  }
  const Finding* score = BestScore(run);
  const Finding* loss = BestOf(run, "train-loss");
  if (EarnsReward(run)) {
    return LearningOfAPolicy(run);
  }
  if (loss != nullptr) {
    return ByTrainLoss(run, *loss, score);
  }
  const Finding* other = BestOf(run, "validation-loss");
  const bool flat = other != nullptr && StateOf(*other) == Learning::kNeverLearned;
  other = other == nullptr || (flat && Improved(score)) ? score : other;
  if (other == nullptr) {
    return {Learning::kUnknown, nullptr, "no loss or score was seen"};
  }
  // A held-out loss that rises again, or a score that lies flat, says little by itself.
  const Learning state = StateOf(*other);
  const bool is_loss = FactText(*other, "role") == "validation-loss";
  const bool ends_bad = other->Number("not_finite_at_end").value_or(0) > 0;
  // A rate may be NaN for a division by nothing; a likelihood, or what had a value before, may not.
  const bool was_finite = other->Number("points").value_or(0) > 0;
  const bool plain = state == Learning::kImproving || state == Learning::kConverged ||
                     (state == Learning::kDiverged && ends_bad && (is_loss || was_finite)) ||
                     state == Learning::kNeverLearned;
  return View(*other, plain ? state : Learning::kUnknown);
}

/// Gradients that no backward pass made: asked for by `torch.autograd.grad`, and handed to the optimizer.
bool GradientsCameOtherwise(const CaseFile& run) {
  const Observation* present = run.FindObservation(seen::GradientsPresent::kKind);
  const auto present_seen = As<seen::GradientsPresent>(present);
  return OrZero(present_seen.tensors) > OrZero(present_seen.without) && OrZero(present_seen.stale) == 0;
}

}  // namespace

bool NothingMoved(const CaseFile& run) {
  const Observation* by_hand = run.FindObservation("updates-by-hand");
  if (As<seen::UpdatesByHand>(by_hand).changed.value_or(0) > 0) {
    return false;
  }
  const Observation* counts = run.FindObservation("counts");
  const auto counts_seen = As<seen::Counts>(counts);
  const double steps = OrZero(counts_seen.steps);
  const double backwards = OrZero(counts_seen.backwards);
  const bool one_sided = (steps == 0 && backwards >= 5) || (backwards == 0 && steps >= 5 && !GradientsCameOtherwise(run));
  return one_sided || run.FindFirst("weights/unchanged") != nullptr;
}

LearningView LearningOf(const CaseFile& run) {
  LearningView view = BySeries(run);
  if (NothingMoved(run) &&
      !(view.Good() && view.basis->Number("drop_in_noise_units").value_or(0) > 10)) {
    return {Learning::kNeverLearned, view.basis, "no weight was ever changed"};
  }
  if (view.state == Learning::kDiverged && view.basis != nullptr && FarBelowGuessing(run, *view.basis)) {
    view.state = Learning::kUnknown;
    view.text += ", but far below guessing";
  }
  SayLessBelowZero(view);
  if (view.state == Learning::kUnknown && view.basis != nullptr && RoseAllAlong(run, *view.basis)) {
    return View(*view.basis, Learning::kDiverged);
  }
  if (view.Good() && CameBackFromAnExplosion(run, *view.basis)) {
    view.state = Learning::kDiverged;
    view.text = fmt::format("{} {:.4g} -> {:.4g} at its highest -> {:.4g}: it exploded, and what "
                            "it fell since is no gain over its start",
                            view.basis->series, view.basis->Number("begin").value_or(0),
                            view.basis->Number("worst").value_or(0),
                            view.basis->Number("last").value_or(0));
  }
  SayLessOfOtherLosses(run, view);
  CompareFiguresWithGuessing(run, view);
  CompareWithGuessing(run, view);
  const Finding* held_out = view.Good() ? HeldOutAtGuessing(run, view) : nullptr;
  if (held_out != nullptr) {
    view.state = Learning::kStalled;
    view.text += fmt::format("; but {} never got better than guessing (best {:.4g}): it learns by heart",
                             held_out->series, held_out->Number("best").value_or(0));
    return view;
  }
  if (view.Good() && OutputsAreConstant(run)) {
    view.state = Learning::kStalled;
    view.text += "; but the outputs are the same for every sample";
  }
  view.text += view.Good() ? DescribeOverfitting(run) : std::string();
  SayLessOfAFlatScore(run, view);
  SayLessOfABeginning(run, view);
  return view;
}

}  // namespace whystop
