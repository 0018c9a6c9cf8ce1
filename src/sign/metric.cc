#include <algorithm>
#include <string_view>

#include "base/human.h"
#include "model/observations.h"
#include "sign/loss_calls.h"
#include "sign/observed.h"
#include "sign/score_and_loss.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

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

/// The recall that the program shows: what share of the rare class is found.
Sign LookRareClassMissed(const Training& training) {
  constexpr double kPointsMin = 3;
  constexpr double kMost = 0.5;
  for (const Finding& finding : training.run.findings) {
    const double last = finding.Number("last").value_or(-1);
    if (finding.detector == "loss/trend" && MentionsAny(finding.series, {"recall", "sensitivity", "tpr"}) &&
        finding.Number("points").value_or(0) >= kPointsMin && last >= 0) {
      const std::string text = finding.series + " is " + HumanNumber(last) + " at the end";
      return last < kMost ? YesSign("series", text + ": most of the rare class is missed") : NoSign(text);
    }
  }
  return NotSeenSign();
}

Sign LookScoreBelowItsLoss(const Training& training) {
  const Finding* loss = training.learning.Good() ? training.learning.basis : nullptr;
  const Finding* score = loss == nullptr ? nullptr : ScoreBelowItsLoss(training.run, *loss);
  if (score == nullptr) {
    return NoSign();
  }
  Sign sign = ByFinding(score, "series",
                        score->series + " gets to " + HumanNumber(score->Number("best").value_or(0)) +
                            " at best, while by the loss at least " +
                            Percent(RightByLoss(training.run, *loss).value_or(0)) +
                            " of the answers are right, since each wrong one costs ln 2 and more: " +
                            training.learning.text);
  sign.facts.push_back({.name = "series", .text = score->series});
  return sign;
}

/// The share of right answers, asked of numbers that are never hit exactly.
Sign LookAccuracyOfNumbers(const Training& training) {
  constexpr double kScoreLow = 0.5;
  const Observation* framework = training.run.FindObservation("framework");
  const auto calls = RegressionCalls(training.run);
  if (framework == nullptr || calls.empty() ||
      !MentionsAny(As<seen::Framework>(*framework).metrics.value_or(""), {"acc"})) {
    return NoSign();
  }
  const auto batches = ObservationsOf(training.run, "batch");
  const bool numbers = std::any_of(batches.begin(), batches.end(), [](const Observation* batch) {
    const auto batch_seen = As<seen::Batch>(batch);
    return batch_seen.place == "1" && batch_seen.integer_valued == false;
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
