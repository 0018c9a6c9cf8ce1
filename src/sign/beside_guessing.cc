#include "sign/beside_guessing.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "sign/account/account.h"
#include "sign/first_pass.h"
#include "sign/guessing.h"
#include "sign/near_guessing.h"
#include "sign/says_less.h"
#include "sign/score_and_loss.h"
#include "sign/series_view.h"
#include "sign/target_mean.h"
#include "sign/words.h"

namespace whystop {
namespace {

// Shares of the loss of guessing. Above the first nothing of the task is known yet; above the
// second a loss that came to rest has not got anywhere.
constexpr double kAtGuessing = 0.97;
constexpr double kNearGuessing = 0.85;
constexpr double kWorse = 1.1;  // Beyond the noise of the levels that are called guessing.
constexpr double kPointsOfLevel = 50;  // Before, a level near guessing may be a matter of time.

/// How far the best value of an accuracy has come on the way from guessing to certainty; nullopt: what guessing gives is not
/// known, or it is another score, or one of a few points.
std::optional<double> WayFromGuessing(const CaseFile& run, const Finding& score) {
  constexpr double kPointsMin = 5;
  const auto guess = AccuracyOfGuessing(run);
  if (!guess || score.Number("points").value_or(0) < kPointsMin || !MentionsAny(score.series, {"acc"})) {
    return std::nullopt;
  }
  const double best = score.Number("best").value_or(1);
  const double accuracy = best > 1 ? best / 100 : best;  // In per cent.
  return accuracy > 0.5 * *guess ? std::optional((accuracy - *guess) / (1 - *guess)) : std::nullopt;
}

constexpr double kKnowsNothing = 0.1;

bool IsAccuracyAtGuessing(const CaseFile& run, const Finding& score) {
  const auto way = WayFromGuessing(run, score);
  return way && *way < kKnowsNothing;
}

/// Nobody is worse than guessing by so much who does not know the answers: it is computed wrongly.
bool FallsBelowGuessing(const CaseFile& run, const Finding& score) {
  constexpr double kOfGuessing = 0.5;
  const auto guess = AccuracyOfGuessing(run);
  const double last = score.Number("last").value_or(1);
  return guess && MentionsAny(score.series, {"acc"}) && (last > 1 ? last / 100 : last) < kOfGuessing * *guess;
}

/// A rate between 0 and 1 that did not come a twentieth of the way from its start to certainty.
bool GainedNextToNothing(const Finding& score) {
  constexpr double kOfTheWay = 0.05;
  const double first = score.Number("first").value_or(0);
  const double best = score.Number("best").value_or(0);
  return first >= 0 && best <= 1 && best - first < kOfTheWay * (1 - first);
}

std::string_view NameOfGuessing(const CaseFile& run) { return LearnsNumbers(run) ? "the mean of the targets" : "guessing"; }

/// "; 3 % below guessing, which costs 2.3"; "" where that is only a bound.
std::string DescribeDistance(const CaseFile& run, double share, double guess) {
  if (share < 1 && LearnsNumbers(run) && CostOfTheMeanIsABound(run)) {
    return {};
  }
  const double percent = 100 * std::abs(1 - share);
  return fmt::format("; {:.{}f} % {} {}, which costs {:.4g}", percent, percent < 10 ? 1 : 0, share < 1 ? "below" : "above",
                     NameOfGuessing(run), guess);
}

/// Whether it falls, and at the pace of its end would be clear of guessing after as long a run again, or at the end of its plan.
/// Without noise every loss still falls a little.
bool LeavesGuessing(const CaseFile& run, const Finding& loss, double guess) {
  constexpr double kRunsInTheEnd = 2.5;  // `end_change` is that of the last two fifths.
  const double done = ShareOfPlanDone(run);
  const double runs_ahead = done > 0 && done < 0.5 ? 1 / done - 1 : 1;
  constexpr double kThrownUp = 1.1;
  const double begin = loss.Number("begin").value_or(0);
  if (loss.Number("first").value_or(0) > kThrownUp * begin &&
      loss.Number("last").value_or(0) > kAtGuessing * begin) {
    return false;  // It comes down from where its own first steps have thrown it.
  }
  const double next = loss.Number("last").value_or(0) +
                      runs_ahead * kRunsInTheEnd * loss.Number("end_change").value_or(0);
  return loss.Number("still_falling").value_or(0) != 0 && next < kAtGuessing * guess;
}

/// Noise hides whether it falls, but not that hundreds of steps have led to nothing: by level and by
/// mean it ends no better than guessing.
bool NoiseHidesNoGain(const CaseFile& run, const LearningView& view, double guess) {
  constexpr double kManyPoints = 200;
  const auto number = [&view](const char* name) { return view.basis->Number(name).value_or(0); };
  return FactText(*view.basis, "state") == "unclear" && number("points") >= kManyPoints &&
         std::min(number("last"), number("last_mean")) > kAtGuessing * guess &&
         !TrainsAdversaries(run) && !HasOtherLosses(run);
}

}  // namespace

void CompareFiguresWithGuessing(const CaseFile& run, LearningView& view) {
  constexpr double kOfTheLoss = 0.05;
  const bool open = view.basis != nullptr && view.state != Learning::kDiverged && !LossOfGuessing(run) &&
                    FactText(*view.basis, "role").ends_with("-loss");
  const auto guess = open ? GuessByTheFigures(run) : std::nullopt;
  if (!guess || std::abs(view.basis->Number("last").value_or(0) / std::log(guess->classes) - 1) > kOfTheLoss) {
    return;
  }
  const bool came_down = view.Good();  // To there, from above.
  view.state = came_down ? Learning::kStalled : Learning::kNeverLearned;
  view.text = fmt::format("{}; {} stays at {:.4g}, as by guessing among {} classes, which costs {:.4g}",
                          Describe(*view.basis, came_down ? Learning::kConverged : view.state), guess->score->series,
                          guess->score->Number("last").value_or(0), guess->classes, std::log(guess->classes));
}

void CompareWithGuessing(const CaseFile& run, LearningView& view) {
  const auto guess = view.basis == nullptr ? std::nullopt : LevelOfGuessing(run, *view.basis);
  const double last = view.basis == nullptr ? 0 : view.basis->Number("last").value_or(0);
  const double points = view.basis == nullptr ? 0 : view.basis->Number("points").value_or(0);
  if (!guess || last <= 0 || points < 3 || view.state == Learning::kDiverged) {
    return;
  }
  const double share = last / *guess;
  const bool falling = LeavesGuessing(run, *view.basis, *guess);
  if (view.state == Learning::kImproving && share > kAtGuessing && !falling) {
    view.text = Describe(*view.basis, Learning::kConverged);
  }
  view.text += DescribeDistance(run, share, *guess);
  if (NoiseHidesNoGain(run, view, *guess)) {
    const double best = view.basis->Number("best").value_or(0);
    view.state = best < kNearGuessing * *guess ? Learning::kDiverged : Learning::kNeverLearned;
    view.text = fmt::format("{}{}: no better than {}", Describe(*view.basis, view.state),
                            DescribeDistance(run, share, *guess), NameOfGuessing(run));
  }
  // Of numbers little may be foreseeable: what a sound regression explains of them may be a tenth.
  if (!view.Good() || share < (LearnsNumbers(run) ? kAtGuessing : kNearGuessing)) {
    return;
  }
  if (share > kAtGuessing && falling) {
    view.state = Learning::kUnknown;
    view.text += fmt::format(": close to {} still", NameOfGuessing(run));
  } else if (view.state == Learning::kConverged || (share > kAtGuessing && !falling)) {
    const bool early = points < kPointsOfLevel;
    view.state = early ? Learning::kUnknown : Learning::kStalled;
    view.text += fmt::format("{} {} {}{}", early ? ":" : ": that is", share > kWorse ? "worse than" : "close to", NameOfGuessing(run),
                             early ? ", after few points" : "");
  }
}

bool KnowsNextToNothing(const CaseFile& run, const Finding& score) {
  return IsAccuracyAtGuessing(run, score) || GainedNextToNothing(score);
}

bool FarBelowGuessing(const CaseFile& run, const Finding& loss) {
  const double last = loss.Number("last").value_or(0);
  const auto guess = LevelOfGuessing(run, loss);
  return guess && loss.Number("not_finite_at_end").value_or(0) == 0 && last > 0 && last < 0.7 * *guess &&
         last < loss.Number("first").value_or(0);
}

bool CameBackFromAnExplosion(const CaseFile& run, const Finding& loss) {
  constexpr double kThrown = 100;
  const double begin = loss.Number("begin").value_or(0);
  const double worst = loss.Number("worst").value_or(0);
  const double last = loss.Number("last").value_or(0);
  if (FactText(loss, "role") != "train-loss" || begin <= 0 || worst < kThrown * begin) {
    return false;
  }
  const auto guess = LevelOfGuessing(run, loss);
  if (guess) {
    return last > kNearGuessing * *guess;
  }
  const bool thrown = run.FindFirst("weights/outgrown") != nullptr ||
                      run.FindFirst("gradient/exploding") != nullptr ||
                      run.FindFirst("update-ratio/too-large") != nullptr;
  return last > 2 * begin && (thrown || worst > 1e4 * begin);
}

const Finding* HeldOutAtGuessing(const CaseFile& run, const LearningView& view) {
  const Finding* held_out = HeldOutNoBetterThanGuessing(run, view);
  const auto guess = held_out == nullptr ? std::nullopt : LevelOfGuessing(run, *view.basis);
  return guess && CarriedOverInTheFirstPass(run, *guess) ? nullptr : held_out;
}

const Finding* HeldOutNoBetterThanGuessing(const CaseFile& run, const LearningView& view) {
  constexpr double kPointsMin = 3;
  constexpr double kComparableStart = 1.3;  // Else it is of another kind than the loss of training.
  constexpr double kGainMin = 0.01;
  constexpr double kNoises = 2;
  constexpr double kCarriedOver = 0.25;
  const Finding* held_out = BestOf(run, "validation-loss");
  const auto guess = view.basis == nullptr ? std::nullopt : LevelOfGuessing(run, *view.basis);
  const double gain = guess ? 1 - view.basis->Number("last").value_or(*guess) / *guess : 0;
  const double noise = view.basis == nullptr ? 0 : view.basis->Number("level_noise").value_or(0);
  const bool by_heart = guess && gain > kGainMin && gain * *guess > kNoises * noise;
  if (held_out == nullptr || !guess || held_out->Number("points").value_or(0) < kPointsMin) {
    const Finding* score = BestOf(run, "validation-score");
    const bool credible = score != nullptr && view.basis != nullptr && ScoreBelowItsLoss(run, *view.basis) == nullptr;
    return by_heart && credible && IsAccuracyAtGuessing(run, *score) && !FallsBelowGuessing(run, *score) ? score : nullptr;
  }
  // A loss may be worse than guessing by a few answers that are sure and wrong, while most answers are right.
  const Finding* score = BestOf(run, "validation-score");
  if (score != nullptr && WayFromGuessing(run, *score).value_or(0) >= kKnowsNothing) {
    return nullptr;
  }
  const double best = held_out->Number("best").value_or(0);
  // What carries over shows there as well: it keeps the better part of what training gained.
  const double no_better = std::max(kAtGuessing, 1 - kCarriedOver * gain);
  return by_heart && best > no_better * *guess && best < kComparableStart * *guess ? held_out : nullptr;
}

}  // namespace whystop
