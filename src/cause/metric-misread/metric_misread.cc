#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

/// By its name the loss of training as a whole. One of several (of a second optimizer, of a
/// generator) may well rise.
bool IsTheWholeLoss(std::string_view series) {
  constexpr std::string_view kNames[] = {
      "loss",         "train_loss", "training_loss", "train loss", "training loss", "running_loss",
      "running loss", "total_loss", "epoch_loss",    "avg_loss",   "mean_loss",     "cost"};
  return std::find(std::begin(kNames), std::end(kNames), series) != std::end(kNames);
}

/// A classifier whose loss is nearly gone is nearly always right: a score of its own training that
/// lies flat and low is computed wrongly.
void WeighFlatScore(const CaseFile& run, Hypothesis& out) {
  constexpr double kLossGone = 0.3;  // Of that of guessing: right in three cases of four and more.
  constexpr double kScoreLow = 0.5;
  const double share = ShareOfGuessing(run);
  if (!LossOfGuessing(run) || share <= 0 || share > kLossGone || !LearningOf(run).Good()) {
    return;
  }
  for (const Finding& finding : run.findings) {
    const std::string state = FactText(finding, "state");
    if (finding.detector == "loss/trend" && FactText(finding, "role") == "train-score" &&
        MentionsAny(finding.series, {"acc"}) && finding.Number("points").value_or(0) >= 3 &&
        finding.Number("last").value_or(1) < kScoreLow &&
        finding.Number("best").value_or(1) < kScoreLow && state != "improving") {
      out.Add(Supports(
          "series", finding.series + " stays at " + HumanNumber(finding.Number("last").value_or(0)),
          finding.facts));
      out.Add(Supports("series", "a loss of " + Percent(share) +
                                     " of that of guessing comes of being right nearly always: " +
                                     LearningOf(run).text));
      out.Fix("check along which dimension " + finding.series +
              " takes its argmax, and what it is divided by");
      return;
    }
  }
}

/// The share of right answers, asked of numbers that are never hit exactly.
bool WeighAccuracyOfNumbers(const CaseFile& run, Hypothesis& out) {
  constexpr double kScoreLow = 0.5;
  const Observation* framework = run.FindObservation("framework");
  const auto calls = LossCalls(run, {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"});
  if (framework == nullptr || calls.empty() ||
      !MentionsAny(TextOf(*framework, "metrics"), {"acc"})) {
    return false;
  }
  const auto batches = ObservationsOf(run, "batch");
  const bool numbers = std::any_of(batches.begin(), batches.end(), [](const Observation* batch) {
    return TextOf(*batch, "place") == "1" && batch->Number("integer_valued") == 0.0;
  });
  for (const Finding& finding : run.findings) {
    if (numbers && finding.detector == "loss/trend" &&
        FactText(finding, "role") == "train-score" && MentionsAny(finding.series, {"acc"}) &&
        finding.Number("last").value_or(1) < kScoreLow) {
      out.Add(Decisive("framework", "the metric " + finding.series +
                                        " counts exact hits, and the targets are numbers of a "
                                        "regression: it stays low however well the model does"));
      out.Fix("measure a regression by its error: metrics=['mae']");
      return true;
    }
  }
  return false;
}

}  // namespace

void WeighMetricMisread(const CaseFile& run, Hypothesis& out) {
  if (WeighAccuracyOfNumbers(run, out)) {
    return;
  }
  const Finding* loss = nullptr;
  const Finding* score = nullptr;
  for (const Finding& finding : run.findings) {
    if (finding.detector != "loss/trend") {
      continue;
    }
    const std::string state = FactText(finding, "state");
    const std::string role = FactText(finding, "role");
    loss = role == "train-loss" && state == "diverged" &&
                   finding.Number("not_finite_at_end").value_or(0) == 0
               ? &finding
               : loss;
    score =
        role == "train-score" && (state == "improving" || state == "converged") ? &finding : score;
  }
  if (const LearningView learning = LearningOf(run);
      loss != nullptr && learning.Good() && learning.basis != loss &&
      FactText(*learning.basis, "role") == "train-loss" && IsTheWholeLoss(loss->series)) {
    out.Add(Supports("series",
                     "the program shows a " + loss->series + " that rises to " +
                         HumanNumber(loss->Number("last").value_or(0)),
                     loss->facts));
    out.Add(Supports("series", "the loss of the steps themselves falls: " + learning.text));
    out.Fix("set the running sum of " + loss->series +
            " back to 0 at the start of each epoch, and divide it by the number of batches");
    return;
  }
  WeighFlatScore(run, out);
  if (loss != nullptr && score != nullptr && !MentionsAny(score->series, {"rew", "return", "epret", "score"})) {
    out.Add(Supports("series",
                     loss->series + " rose to " + HumanNumber(loss->Number("last").value_or(0)) +
                         " while " + score->series + " improved to " +
                         HumanNumber(score->Number("last").value_or(0)) +
                         ": one of them does not measure what it seems to",
                     loss->facts));
  }
}

}  // namespace whystop
