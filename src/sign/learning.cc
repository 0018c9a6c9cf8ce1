#include "sign/learning.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "model/observations.h"
#include "sign/answers.h"
#include "sign/account/account.h"
#include "sign/guessing.h"
#include "sign/loop_exit.h"
#include "sign/loss_calls.h"
#include "sign/near_guessing.h"
#include "sign/observed.h"
#include "sign/says_less.h"
#include "sign/score_and_loss.h"
#include "sign/target_mean.h"
#include "sign/words.h"

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

/// The score to judge by: one that improved (precision may be traded for recall, and the whole gets better), else the one
/// with the most points; scores of training before held-out ones.
const Finding* BestScore(const CaseFile& run) {
  const Finding* train = BestOf(run, "train-score");
  const Finding* score = train != nullptr ? train : BestOf(run, "validation-score");
  if (score == nullptr || Improved(score)) {
    return score;
  }
  const std::string role = FactText(*score, "role");
  for (const Finding& finding : run.findings) {
    if (finding.detector == "loss/trend" && FactText(finding, "role") == role && Improved(&finding) &&
        finding.Number("rank") == score->Number("rank")) {
      return &finding;
    }
  }
  return score;
}

/// "2.31 -> 0.28"; where these are levels of the ends and stand in no log, they are called so.
std::string DescribeEnds(const Finding& finding) {
  const auto shown = [&finding](const char* fact) { return fmt::format("{:.4g}", finding.Number(fact).value_or(0)); };
  const std::string text = shown("first") + " -> " + shown("last");
  const bool own_last = !finding.Number("last_value") || shown("last") == shown("last_value");
  const bool own_first = !finding.Number("first_value") || shown("first") == shown("first_value");
  return own_last ? text + (own_first ? "" : " (smoothed)") : text + " (smoothed; the last is " + shown("last_value") + ")";
}

std::string Describe(const Finding& finding, Learning state) {
  const double points = finding.Number("points").value_or(0);
  const double bad_at_end = finding.Number("not_finite_at_end").value_or(0);
  if (points == 0) {
    return fmt::format("{} was never a finite number ({} points)", finding.series,
                       finding.Number("not_finite").value_or(0));
  }
  if (finding.Number("identical").value_or(0) != 0) {
    return fmt::format("{} was {:.6g} at each of {} points, to the last digit: nothing changes",
                       finding.series, finding.Number("last").value_or(0), points);
  }
  const double begin = finding.Number("begin").value_or(0);
  // The level of the start leaves out what was soon lost.
  const bool lost_its_start = state == Learning::kDiverged && FactText(finding, "role").ends_with("-loss") &&
                              begin < finding.Number("best").value_or(0);
  std::string text =
      fmt::format("{} {} over {} points", finding.series,
                  lost_its_start ? fmt::format("{:.4g} -> {:.4g}", begin, finding.Number("last").value_or(0)) : DescribeEnds(finding), points);
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
      return text + (lost_its_start ? std::string(", far above where it began")
                                    : fmt::format(", far off its best of {:.4g}", finding.Number("best").value_or(0)));
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

bool HasEnvironment(const CaseFile& run) { return run.FindObservation("environment") != nullptr; }

/// What a policy earns. Its loss is no measure of it: it has no reason to fall. A "score" is that
/// of a game only where there is an environment.
bool IsReward(const CaseFile& run, std::string series) {
  std::transform(series.begin(), series.end(), series.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const auto names = [&series](std::string_view word) {
    return series.find(word) != std::string::npos;
  };
  return names("rew") || names("return") || names("epret") || names("fitness") ||
         (names("score") && HasEnvironment(run));
}

LearningView View(const Finding& basis, Learning state) {
  return {state, &basis, Describe(basis, state)};
}

/// The reward that says most: one that rose, else the one with the most points; nullptr: none was
/// seen.
const Finding* BestReward(const CaseFile& run) {
  const Finding* best = nullptr;
  const auto points = [](const Finding& of) { return of.Number("points").value_or(0); };
  for (const Finding& finding : run.findings) {
    const bool is_score = finding.detector == "loss/trend" &&
                          FactText(finding, "role").find("score") != std::string::npos;
    if (!is_score || !IsReward(run, finding.series)) {
      continue;
    }
    const bool better = best == nullptr || (Improved(&finding) && !Improved(best)) ||
                        (Improved(&finding) == Improved(best) && points(finding) > points(*best));
    best = better ? &finding : best;
  }
  return best;
}

/// A policy is judged by what it earns, never by its loss. Where that is not on record, or did not
/// rise beyond its noise, watching cannot say: some policies earn nothing for most of their life.
LearningView OfAPolicy(const Finding* reward, const Finding* loss) {
  if (loss != nullptr && loss->Number("not_finite_at_end").value_or(0) > 0) {
    return View(*loss, Learning::kDiverged);
  }
  if (reward == nullptr) {
    return {Learning::kUnknown, nullptr,
            "an environment was used, and the loss of a policy need not fall; the return of its "
            "episodes, printed or logged, would tell"};
  }
  if (Improved(reward)) {
    return View(*reward, StateOf(*reward));
  }
  LearningView view = View(*reward, Learning::kUnknown);
  view.text = fmt::format("{} {} over {} points (best {:.4g}): no gain beyond its "
                          "noise so far, and the loss of a policy says nothing about it",
                          reward->series, DescribeEnds(*reward), reward->Number("points").value_or(0),
                          reward->Number("best").value_or(0));
  return view;
}

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

/// A rate between 0 and 1 that did not come a twentieth of the way from its start to certainty: beside a loss that
/// lies flat that is no proof of learning.
bool GainedNextToNothing(const Finding& score) {
  constexpr double kOfTheWay = 0.05;
  const double first = score.Number("first").value_or(0);
  const double best = score.Number("best").value_or(0);
  return first >= 0 && best <= 1 && best - first < kOfTheWay * (1 - first);
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
  if (state == Learning::kNeverLearned && Improved(score) && !IsAccuracyAtGuessing(run, *score) &&
      !GainedNextToNothing(*score)) {
    return View(*score, StateOf(*score));
  }
  if (state == Learning::kNeverLearned && NearlyPerfect(score)) {
    return View(loss, Learning::kConverged);
  }
  return View(loss, state);
}

// Shares of the loss of guessing. Above the first nothing of the task is known yet; above the
// second a loss that came to rest has not got anywhere.
constexpr double kAtGuessing = 0.97;
constexpr double kNearGuessing = 0.85;
constexpr double kPointsOfLevel = 50;  // Before, a level near guessing may be a matter of time.

/// What knowing nothing of the inputs costs, where the loss on record is comparable with it.
std::optional<double> CostOfKnowingNothing(const CaseFile& run, const Finding& loss) {
  if (FactText(loss, "role") != "train-loss") {
    return std::nullopt;
  }
  const auto mean =
      LossOfTheMean(run, loss.Number("first").value_or(0), loss.Number("last").value_or(0));
  const Observation* call = run.FindObservation("loss-call");
  const auto regression = RegressionCalls(run);
  if (call != nullptr && !regression.empty() && regression.front() == call) {
    return mean;
  }
  const auto guess = LossOfGuessing(run);
  return guess && IsComparable(run, loss, *guess) ? guess : std::nullopt;
}

std::string DescribeDistance(double share, double guess) {
  const double percent = 100 * std::abs(1 - share);
  return fmt::format("{:.{}f} % {} guessing, which costs {:.4g}", percent, percent < 10 ? 1 : 0,
                     share < 1 ? "below" : "above", guess);
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

/// In a log neither labels nor calls of the loss are seen, but an accuracy and a loss that both stand where guessing puts them.
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

/// How far the loss is from guessing, in numbers, and what that makes of the answer. Only what lies
/// below guessing was learned, however far the loss fell to it.
void CompareWithGuessing(const CaseFile& run, LearningView& view) {
  const auto guess = view.basis == nullptr ? std::nullopt : CostOfKnowingNothing(run, *view.basis);
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
  view.text += "; " + DescribeDistance(share, *guess);
  if (NoiseHidesNoGain(run, view, *guess)) {
    const double best = view.basis->Number("best").value_or(0);
    view.state = best < kNearGuessing * *guess ? Learning::kDiverged : Learning::kNeverLearned;
    view.text = Describe(*view.basis, view.state) + "; " + DescribeDistance(share, *guess) +
                ": no better than guessing";
  }
  if (!view.Good() || share < kNearGuessing) {
    return;
  }
  if (share > kAtGuessing && falling) {
    view.state = Learning::kUnknown;
    view.text += ": close to guessing still";
  } else if (view.state == Learning::kConverged || (share > kAtGuessing && !falling)) {
    const bool early = points < kPointsOfLevel;
    view.state = early ? Learning::kUnknown : Learning::kStalled;
    view.text += early ? ": close to guessing, after few points" : ": that is close to guessing";
  }
}

/// It was thrown up far above its start and what it came down to is no better than the start: such
/// a fall is no learning. A loss that begins low for want of anything to find may rise too, so where
/// the level of guessing is not known the weights must have been thrown as well.
bool CameBackFromAnExplosion(const CaseFile& run, const Finding& loss) {
  constexpr double kThrown = 100;
  const double begin = loss.Number("begin").value_or(0);
  const double worst = loss.Number("worst").value_or(0);
  const double last = loss.Number("last").value_or(0);
  if (FactText(loss, "role") != "train-loss" || begin <= 0 || worst < kThrown * begin) {
    return false;
  }
  const auto guess = CostOfKnowingNothing(run, loss);
  if (guess) {
    return last > kNearGuessing * *guess;
  }
  const bool thrown = run.FindFirst("weights/outgrown") != nullptr ||
                      run.FindFirst("gradient/exploding") != nullptr ||
                      run.FindFirst("update-ratio/too-large") != nullptr;
  return last > 2 * begin && (thrown || worst > 1e4 * begin);
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

/// A loss that seems to have risen, by a first value that was low by chance, and knows more than
/// nothing.
bool FarBelowGuessing(const CaseFile& run, const Finding& loss) {
  const double last = loss.Number("last").value_or(0);
  const auto guess = LevelOfGuessing(run, loss);
  return guess && FactText(loss, "role") == "train-loss" &&
         loss.Number("not_finite_at_end").value_or(0) == 0 && last > 0 && last < 0.7 * *guess &&
         last < loss.Number("first").value_or(0);
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
  const Finding* reward = BestReward(run);
  if (reward != nullptr || HasEnvironment(run)) {
    return OfAPolicy(reward, loss);
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

}  // namespace

bool EarnsReward(const CaseFile& run) { return BestReward(run) != nullptr || HasEnvironment(run); }

const Finding* HeldOutAtGuessing(const CaseFile& run, const LearningView& view) {
  constexpr double kPointsMin = 3;
  constexpr double kComparableStart = 1.3;  // Else it is of another kind than the loss of training.
  constexpr double kGainMin = 0.01;
  constexpr double kNoises = 2;
  constexpr double kCarriedOver = 0.25;
  const Finding* held_out = BestOf(run, "validation-loss");
  const auto guess = view.basis == nullptr ? std::nullopt : CostOfKnowingNothing(run, *view.basis);
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

bool NothingMoved(const CaseFile& run) {
  const Observation* by_hand = run.FindObservation("updates-by-hand");
  if (As<seen::UpdatesByHand>(by_hand).changed.value_or(0) > 0) {
    return false;
  }
  const Observation* counts = run.FindObservation("counts");
  const auto counts_seen = As<seen::Counts>(counts);
  const double steps = OrZero(counts_seen.steps);
  const double backwards = OrZero(counts_seen.backwards);
  const bool one_sided = (steps == 0 && backwards >= 5) || (backwards == 0 && steps >= 5);
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
  SayLessOfABeginning(run, view);
  return view;
}

}  // namespace whystop
