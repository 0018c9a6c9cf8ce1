#include "sign/score_and_loss.h"

#include <algorithm>
#include <numbers>
#include <string>

#include "model/observations.h"
#include "sign/guessing.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {
namespace {

bool AnswersOneQuestion(const CaseFile& run) {
  const auto calls = ObservationsOf(run, "loss-call");
  if (calls.empty() || !LossOfGuessing(run)) {
    return false;
  }
  const Observation& call = *calls.back();
  const auto call_seen = As<seen::LossCall>(call);
  const bool by_two = call_seen.function.value_or("").starts_with("binary");
  return !call_seen.weighted.value_or(false) && (!by_two || OrZero(call_seen.classes) <= 1);
}

/// Tokens or pixels: an accuracy may be the share of samples without any error.
bool HasSeveralPlaces(const CaseFile& run) {
  const std::string shape = As<seen::LossCall>(*ObservationsOf(run, "loss-call").back()).input_shape.value_or("");
  return std::count(shape.begin(), shape.end(), 'x') > 1;
}

/// Per cent are given by some.
double ShareOfRight(const Finding& score) {
  const double best = score.Number("best").value_or(1);
  return best > 1 ? best / 100 : best;
}

/// What is printed as "acc" beside a loss may be that of other samples, which were not learned: only one that lies flat where
/// guessing is, while the loss is nearly gone, tells of a fault.
bool StaysAtGuessing(const CaseFile& run, const Finding& score, const Finding& loss) {
  constexpr double kLossGone = 0.3;
  constexpr double kOfTheWay = 0.1;
  const auto cost = LossOfGuessing(run);
  const auto guess = AccuracyOfGuessing(run);
  return cost && guess && loss.Number("last").value_or(*cost) < kLossGone * *cost &&
         FactText(score, "state") != "improving" && ShareOfRight(score) < *guess + kOfTheWay * (1 - *guess);
}

/// The share of samples without any error begins next to nothing: it does not lie where guessing at each place is.
bool LiesAtGuessing(const CaseFile& run, const Finding& score, const Finding& loss) {
  constexpr double kNotNothing = 0.7;
  const auto guess = AccuracyOfGuessing(run);
  return guess && ShareOfRight(score) > kNotNothing * *guess && StaysAtGuessing(run, score, loss);
}

/// On samples that were not learned a model may be as good as guessing, and by chance no worse than half of that.
bool IsWorseThanChance(const CaseFile& run, const Finding& score) {
  constexpr double kOfGuessing = 0.5;
  const auto guess = AccuracyOfGuessing(run);
  return guess && ShareOfRight(score) < kOfGuessing * *guess;
}

/// Whether this score counts the same answers as the loss, or is lower than those of any samples can be.
bool ContradictsTheLoss(const CaseFile& run, const Finding& score, const Finding& loss) {
  if (HasSeveralPlaces(run)) {
    return FactText(score, "role") == "train-score" && LiesAtGuessing(run, score, loss);
  }
  if (FactText(score, "role") == "validation-score") {
    return IsWorseThanChance(run, score);
  }
  return FactText(score, "role") == "train-score" &&
         (MentionsAny(score.series, {"train"}) || StaysAtGuessing(run, score, loss));
}

}  // namespace

std::optional<double> RightByLoss(const CaseFile& run, const Finding& loss) {
  const auto last = loss.Number("last");
  return last && FactText(loss, "role") == "train-loss" && AnswersOneQuestion(run)
             ? std::optional(1 - *last / std::numbers::ln2)
             : std::nullopt;
}

const Finding* ScoreBelowItsLoss(const CaseFile& run, const Finding& loss) {
  constexpr double kPointsMin = 3;
  constexpr double kMargin = 0.1;  // For what dropout, a loss of other batches and rounding may do.
  const auto right = RightByLoss(run, loss);
  for (const Finding& score : run.findings) {
    if (right && score.detector == "loss/trend" && MentionsAny(score.series, {"acc"}) &&
        score.Number("points").value_or(0) >= kPointsMin && ShareOfRight(score) < *right - kMargin &&
        ContradictsTheLoss(run, score, loss)) {
      return &score;
    }
  }
  return nullptr;
}

}  // namespace whystop
