#include "cause/learning.h"

#include <fmt/core.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "cause/loop_facts.h"
#include "cause/regression_facts.h"
#include "cause/training_facts.h"

namespace whystop {
namespace {

/// The series of that role that says most: the one with the most points, of the lowest rank.
const Finding* BestOf(const CaseFile& run, std::string_view role) {
  const Finding* best = nullptr;
  for (const Finding& finding : run.findings) {
    if (finding.detector != "loss/trend" || FactText(finding, "role") != role) {
      continue;
    }
    const bool better =
        best == nullptr || finding.Number("rank") < best->Number("rank") ||
        (finding.Number("rank") == best->Number("rank") &&
         finding.Number("points").value_or(0) + finding.Number("not_finite").value_or(0) >
             best->Number("points").value_or(0) + best->Number("not_finite").value_or(0));
    best = better ? &finding : best;
  }
  return best;
}

Learning StateOf(const Finding& finding) {
  constexpr std::pair<std::string_view, Learning> kStates[] = {
      {"improving", Learning::kImproving},
      {"converged", Learning::kConverged},
      {"stalled", Learning::kStalled},
      {"diverged", Learning::kDiverged},
      {"never-learned", Learning::kNeverLearned},
  };
  const std::string state = FactText(finding, "state");
  for (const auto& [name, learning] : kStates) {
    if (name == state) {
      return learning;
    }
  }
  return Learning::kUnknown;
}

bool Improved(const Finding* score) {
  return score != nullptr &&
         (StateOf(*score) == Learning::kImproving || StateOf(*score) == Learning::kConverged);
}

/// A rate that is nearly perfect: a flat loss then means "was good from the start".
bool NearlyPerfect(const Finding* score) {
  return score != nullptr && score->Number("last").value_or(0) > 0.9 &&
         score->Number("last").value_or(0) <= 1;
}

std::string Describe(const Finding& finding, Learning state) {
  const double points = finding.Number("points").value_or(0);
  const double bad_at_end = finding.Number("not_finite_at_end").value_or(0);
  if (points == 0) {
    return fmt::format("{} was never a finite number ({} points)", finding.series,
                       finding.Number("not_finite").value_or(0));
  }
  std::string text =
      fmt::format("{} {:.4g} -> {:.4g} over {} points", finding.series,
                  finding.Number("first").value_or(0), finding.Number("last").value_or(0), points);
  if (bad_at_end > 0) {
    return text + fmt::format(", then not a finite number ({} points at the end)", bad_at_end);
  }
  switch (state) {
    case Learning::kImproving:
      return text + ", still improving at the end";
    case Learning::kConverged:
      return text +
             fmt::format(", level at the end (best {:.4g})", finding.Number("best").value_or(0));
    case Learning::kStalled:
      return text + fmt::format(", then no further gain (best {:.4g})",
                                finding.Number("best").value_or(0));
    case Learning::kDiverged:
      return text + fmt::format(", far off its best of {:.4g}", finding.Number("best").value_or(0));
    case Learning::kNeverLearned:
      return text + fmt::format(": never left its starting level beyond its noise of {:.2g}",
                                finding.Number("noise").value_or(0));
    case Learning::kUnknown:
      break;
  }
  const std::string why = FactText(finding, "state");
  return text + (why == "too-short"      ? ": too few points to say"
                 : why == "start-unseen" ? ": level, but where it began is not here"
                                         : ": its noise hides the answer");
}

/// What a policy earns. Its loss is no measure of it: it has no reason to fall.
bool IsReward(std::string_view series) {
  return series.find("reward") != std::string_view::npos ||
         series.find("return") != std::string_view::npos;
}

LearningView View(const Finding& basis, Learning state) {
  return {state, &basis, Describe(basis, state)};
}

LearningView ByTrainLoss(const Finding& loss, const Finding* score) {
  const Learning state = StateOf(loss);
  const bool finite_end = loss.Number("not_finite_at_end").value_or(0) == 0;
  if (finite_end && Improved(score) && IsReward(score->series)) {
    return View(*score, StateOf(*score));
  }
  if (state == Learning::kDiverged && finite_end && Improved(score)) {
    LearningView view = View(loss, Learning::kUnknown);
    view.text = fmt::format("{}, but {} kept improving: the two contradict each other",
                            Describe(loss, Learning::kDiverged), score->series);
    return view;
  }
  if (state == Learning::kNeverLearned && Improved(score)) {
    return View(*score, StateOf(*score));
  }
  if (state == Learning::kNeverLearned && NearlyPerfect(score)) {
    return View(loss, Learning::kConverged);
  }
  return View(loss, state);
}

/// A classifier whose loss is hardly below that of equal odds for all classes has not learned, even
/// if it began far above.
bool NearGuessing(const CaseFile& run, const Finding& loss) {
  const Observation* call = run.FindObservation("loss-call");
  const std::string* function = call == nullptr ? nullptr : call->Text("function");
  const double classes = call == nullptr ? 0 : call->Number("classes").value_or(0);
  return function != nullptr && *function == "cross_entropy" && classes >= 2 &&
         FactText(loss, "role") == "train-loss" &&
         loss.Number("last").value_or(0) > 0.85 * std::log(classes);
}

/// The mean of the targets alone would do as well. With two optimizers (adversaries) that may be
/// the very aim.
bool NoBetterThanTheMean(const CaseFile& run, const Finding& loss) {
  const auto mean =
      LossOfTheMean(run, loss.Number("first").value_or(0), loss.Number("last").value_or(0));
  return mean && FactText(loss, "role") == "train-loss" &&
         loss.Number("last").value_or(0) > 0.97 * *mean;
}

/// A loss that seems to have risen, by a first value that was low by chance, and knows more than
/// nothing.
bool FarBelowGuessing(const CaseFile& run, const Finding& loss) {
  const double last = loss.Number("last").value_or(0);
  const auto guess = LevelOfGuessing(run, loss);
  return guess && FactText(loss, "role") == "train-loss" &&
         loss.Number("not_finite_at_end").value_or(0) == 0 && last > 0 && last < 0.7 * *guess &&
         last < loss.Number("first").value_or(0);
}

bool OutputsAreConstant(const CaseFile& run) {
  const Observation* call = run.FindObservation("loss-call");
  return call != nullptr && call->Number("call").value_or(0) >= 10 && GivesOneAnswer(*call, 1e-3);
}

LearningView BySeries(const CaseFile& run) {
  const Observation* exit = FinalExit(run);
  if (LeftForALossNotFinite(run)) {
    return {Learning::kDiverged, BestOf(run, "train-loss"),
            "the loss was not a finite number when " + DescribeExit(*exit) + " ended the loop"};
  }
  const Finding* train_score = BestOf(run, "train-score");
  const Finding* validation_score = BestOf(run, "validation-score");
  const Finding* score = train_score != nullptr ? train_score : validation_score;
  if (const Finding* loss = BestOf(run, "train-loss")) {
    return ByTrainLoss(*loss, score);
  }
  const Finding* other = BestOf(run, "validation-loss");
  other = other != nullptr ? other : score;
  if (other == nullptr) {
    return {Learning::kUnknown, nullptr, "no loss or score was seen"};
  }
  // A held-out loss that rises again, or a score that lies flat, says little by itself.
  const Learning state = StateOf(*other);
  const bool is_loss = FactText(*other, "role") == "validation-loss";
  const bool ends_bad = other->Number("not_finite_at_end").value_or(0) > 0;
  const bool plain = state == Learning::kImproving || state == Learning::kConverged ||
                     (state == Learning::kDiverged && ends_bad && is_loss) ||
                     state == Learning::kNeverLearned;
  return View(*other, plain ? state : Learning::kUnknown);
}

}  // namespace

bool NothingMoved(const CaseFile& run) {
  const Observation* counts = run.FindObservation("counts");
  const double steps = counts == nullptr ? 0 : counts->Number("steps").value_or(0);
  const double backwards = counts == nullptr ? 0 : counts->Number("backwards").value_or(0);
  const bool one_sided = (steps == 0 && backwards >= 5) || (backwards == 0 && steps >= 5);
  return one_sided || run.FindFirst("weights/unchanged") != nullptr;
}

LearningView LearningOf(const CaseFile& run) {
  LearningView view = BySeries(run);
  if (NothingMoved(run) &&
      !(view.Good() && view.basis->Number("drop_in_noise_units").value_or(0) > 10)) {
    return {Learning::kNeverLearned, view.basis, "no weight was ever changed"};
  }
  if (view.state == Learning::kDiverged && FarBelowGuessing(run, *view.basis)) {
    view.state = Learning::kUnknown;
    view.text += ", but far below guessing";
  }
  if (view.state == Learning::kConverged &&
      (NearGuessing(run, *view.basis) || NoBetterThanTheMean(run, *view.basis))) {
    view.state = Learning::kStalled;
    view.text += "; that is close to guessing";
  }
  if (view.Good() && OutputsAreConstant(run)) {
    view.state = Learning::kStalled;
    view.text += "; but the outputs are the same for every sample";
  }
  return view;
}

}  // namespace whystop
