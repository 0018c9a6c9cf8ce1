#include <algorithm>
#include <string_view>

#include "base/human.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/training_facts.h"

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

const Finding* RisingLoss(const CaseFile& run) {
  const Finding* loss = nullptr;
  for (const Finding& finding : run.findings) {
    if (finding.detector == "loss/trend" && FactText(finding, "role") == "train-loss" &&
        FactText(finding, "state") == "diverged" &&
        finding.Number("not_finite_at_end").value_or(0) == 0) {
      loss = &finding;
    }
  }
  return loss;
}

}  // namespace

/// A running sum that is never set back, beside the loss of the steps.
Sign LookShownLossRises(const Training& training) {
  const Finding* loss = RisingLoss(training.run);
  const bool contradicted = loss != nullptr && training.learning.Good() &&
                            training.learning.basis != loss &&
                            FactText(*training.learning.basis, "role") == "train-loss" &&
                            IsTheWholeLoss(loss->series);
  Sign sign = ByFinding(contradicted ? loss : nullptr, "series",
                        contradicted
                            ? "the program shows a " + loss->series + " that rises to " +
                                  HumanNumber(loss->Number("last").value_or(0)) +
                                  ", while the loss of the steps themselves falls: " +
                                  training.learning.text
                            : std::string());
  if (contradicted) {
    sign.facts.push_back({.name = "series", .text = loss->series});
  }
  return sign;
}

/// A classifier whose loss is nearly gone is nearly always right: a score of its own training that
/// lies flat and low is computed wrongly.
Sign LookScoreFlatLossGone(const Training& training) {
  constexpr double kLossGone = 0.3;  // Of that of guessing: right in three cases of four and more.
  constexpr double kScoreLow = 0.5;
  if (!training.classifies || training.share <= 0 || training.share > kLossGone ||
      !training.learning.Good()) {
    return NoSign();
  }
  for (const Finding& finding : training.run.findings) {
    if (finding.detector == "loss/trend" && FactText(finding, "role") == "train-score" &&
        MentionsAny(finding.series, {"acc"}) && finding.Number("points").value_or(0) >= 3 &&
        finding.Number("last").value_or(1) < kScoreLow &&
        finding.Number("best").value_or(1) < kScoreLow &&
        FactText(finding, "state") != "improving") {
      Sign sign = ByFinding(&finding, "series",
                            finding.series + " stays at " +
                                HumanNumber(finding.Number("last").value_or(0)) +
                                ", while a loss of " + Percent(training.share) +
                                " of that of guessing comes of being right nearly always: " +
                                training.learning.text);
      sign.facts.push_back({.name = "series", .text = finding.series});
      return sign;
    }
  }
  return NoSign();
}

/// The share of right answers, asked of numbers that are never hit exactly.
Sign LookAccuracyOfNumbers(const Training& training) {
  constexpr double kScoreLow = 0.5;
  const Observation* framework = training.run.FindObservation("framework");
  const auto calls = RegressionCalls(training.run);
  if (framework == nullptr || calls.empty() ||
      !MentionsAny(TextOf(*framework, "metrics"), {"acc"})) {
    return NoSign();
  }
  const auto batches = ObservationsOf(training.run, "batch");
  const bool numbers = std::any_of(batches.begin(), batches.end(), [](const Observation* batch) {
    return TextOf(*batch, "place") == "1" && batch->Number("integer_valued") == 0.0;
  });
  for (const Finding& finding : training.run.findings) {
    if (numbers && finding.detector == "loss/trend" &&
        FactText(finding, "role") == "train-score" && MentionsAny(finding.series, {"acc"}) &&
        finding.Number("last").value_or(1) < kScoreLow) {
      return YesSign("framework", "the metric " + finding.series +
                                      " counts exact hits, and the targets are numbers of a "
                                      "regression: it stays low however well the model does");
    }
  }
  return NoSign();
}

Sign LookLossUpScoreUp(const Training& training) {
  const Finding* loss = RisingLoss(training.run);
  const Finding* score = nullptr;
  for (const Finding& finding : training.run.findings) {
    const std::string state = FactText(finding, "state");
    if (finding.detector == "loss/trend" && FactText(finding, "role") == "train-score" &&
        (state == "improving" || state == "converged")) {
      score = &finding;
    }
  }
  const bool both =
      loss != nullptr && score != nullptr &&
      !MentionsAny(score->series, {"rew", "return", "epret", "score"});
  return ByFinding(both ? loss : nullptr, "series",
                   both ? loss->series + " rose to " +
                              HumanNumber(loss->Number("last").value_or(0)) + " while " +
                              score->series + " improved to " +
                              HumanNumber(score->Number("last").value_or(0)) +
                              ": one of them does not measure what it seems to"
                        : std::string());
}

/// Without the probe: a loss that stays where guessing is, by its number alone.
Sign LookPlateauAtGuessing(const Training& training) {
  const Finding* flat = training.run.FindFirst("loss/plateau-from-start");
  const bool guess = flat != nullptr && !FactText(*flat, "guess").empty();
  return ByFinding(guess ? flat : nullptr, "series",
                   guess ? flat->series + " stays at " +
                               HumanNumber(flat->Number("level").value_or(0)) +
                               ", the level of guessing (" + FactText(*flat, "guess") + ")"
                         : std::string());
}

Sign LookProbeLoaded(const Training& training) {
  return AnswerSign(training.run.probe_loaded, "probe", "the probe was loaded");
}

Sign LookNanPlaceSeen(const Training& training) {
  return AnswerSign(training.run.FindObservation("nonfinite") != nullptr, "probe",
                    "the probe saw which tensor was the first to hold a NaN");
}

Sign LookJobAlive(const Training& training) {
  return AnswerSign(training.run.job_alive, "process", "the job still runs");
}

}  // namespace whystop
