#include <cmath>
#include <optional>
#include <string>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/early_stop.h"
#include "sign/exit_reason.h"
#include "sign/framework_stop.h"
#include "sign/learning.h"
#include "sign/loop_exit.h"
#include "sign/nan.h"
#include "sign/words.h"

namespace whystop {
namespace {

void TellLearning(const CaseFile& run, Hypothesis& out) {
  const LearningView learning = LearningOf(run);
  if (learning.state == Learning::kImproving) {
    out.Add(Supports("series", "it was still learning: " + learning.text));
  }
}

/// Whether the value that counted as "no better" differs from the best by more than the series' own
/// scatter.
void CompareWithNoise(const CaseFile& run, double best, double now, Hypothesis& out) {
  const Finding* series = nullptr;
  for (const Finding& finding : run.findings) {
    const std::string role = FactText(finding, "role");
    if (finding.detector == "loss/trend" &&
        (role == "validation-loss" || (role == "train-loss" && series == nullptr))) {
      series = &finding;
    }
  }
  std::string text =
      "the last value was " + HumanNumber(now) + " against a best of " + HumanNumber(best);
  if (series != nullptr && series->Number("noise").value_or(0) > 0) {
    const double noise = *series->Number("noise");
    const bool inside = std::abs(now - best) < 2 * noise;
    text += std::string(inside ? ", inside" : ", outside") + " the usual wobble of " +
            series->series + " (" + HumanNumber(noise, 2) + ")";
  }
  out.Add(Supports("series", text));
}

/// A score that was watched as if lower were better, or a loss as if higher were: every gain counted as none.
void WeighDirection(const CaseFile& run, const std::string& monitor, const std::string& mode, Hypothesis& out) {
  for (const Finding& finding : run.findings) {
    const std::string role = FactText(finding, "role");
    const bool is_score = role == "validation-score" || role == "train-score";
    const bool is_loss = role == "validation-loss" || role == "train-loss";
    const bool turned = (is_score && mode == "min") || (is_loss && mode == "max");
    if (turned && finding.detector == "loss/trend" && !monitor.empty() && finding.series.ends_with(monitor)) {
      Evidence evidence = Decisive("series", finding.series + " is better when it is " + (is_score ? "higher" : "lower") +
                                                 ", and was watched as if it were the other way round: it went from " +
                                                 HumanNumber(finding.Number("first").value_or(0)) + " to " +
                                                 HumanNumber(finding.Number("last").value_or(0)));
      evidence.series = finding.series;
      out.Add(std::move(evidence));
      out.Fix("watch " + monitor + " with the right direction (`greater_is_better`, `mode`)");
      out.BeginsHere();
      return;
    }
  }
}

void WeighFramework(const CaseFile& run, const Observation& stop, Hypothesis& out) {
  const auto stop_seen = As<seen::FrameworkStop>(stop);
  if (ReasonOfStop(run, stop) != ExitReason::kPatience || SomeLossLost(run)) {
    return;
  }
  if (!stop_seen.patience && !stop_seen.early_stopping_patience) {
    Evidence evidence = Decisive("framework", "hand-written early stopping: " + DescribeStop(stop));
    evidence.place = PlaceOf(stop);
    out.Add(std::move(evidence));
    TellLearning(run, out);
    return;
  }
  const double limit = stop_seen.patience.value_or(stop_seen.early_stopping_patience.value_or(0));
  const std::string monitor = stop_seen.monitor.value_or("");
  out.Add(Decisive("framework", stop_seen.who.value_or("") + " asked " + stop_seen.framework.value_or("") +
                                    " to stop: " + (monitor.empty() ? "its metric" : monitor) +
                                    " did not improve in " + HumanNumber(limit) + " checks" +
                                    (stop.step ? ", at step " + HumanCount(*stop.step) : "") +
                                    DescribeFrameworkEpoch(stop)));
  WeighDirection(run, monitor, stop_seen.mode.value_or(""), out);
  const auto best = stop.Number("best");
  const auto now = stop.Number("last");
  if (best && now && std::isfinite(*best) && std::isfinite(*now)) {
    CompareWithNoise(run, *best, *now, out);
  }
  if (limit < 5) {
    out.Fix("raise the patience of " + stop_seen.who.value_or("") + " from " + HumanNumber(limit) +
            " to 5 or more");
  }
  TellLearning(run, out);
}

}  // namespace

void WeighEarlyStopPatience(const CaseFile& run, Hypothesis& out) {
  if (StoppedAfterItsBest(run)) {
    return;  // finished-early-by-design.
  }
  if (const Observation* stop = FrameworkStop(run)) {
    WeighFramework(run, *stop, out);
    return;
  }
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) != ExitReason::kPatience || SomeLossLost(run)) {
    return;  // NaN is never better than the best: early-stop-nonfinite.
  }
  Evidence evidence =
      Decisive("loop", "hand-written early stopping: " + DescribeExit(*exit) + DescribeTurn(*exit));
  evidence.place = PlaceOf(*exit);
  out.Add(std::move(evidence));
  std::optional<double> best;
  std::optional<double> now;
  for (const auto& [name, value] : ExitValues(*exit)) {
    if (MentionsAny(name, {"patience"}) && value < 5) {
      out.Fix("raise " + name + " from " + HumanNumber(value) +
              " to 5 or more, or watch a smoothed or validation loss");
    } else if (MentionsAny(name, {"best"})) {
      best = value;
    } else if (MentionsAny(name, {"loss", "val", "metric", "acc", "score"})) {
      now = value;
    }
  }
  if (best && now && std::isfinite(*best) && std::isfinite(*now)) {
    CompareWithNoise(run, *best, *now, out);
  }
  TellLearning(run, out);
}

}  // namespace whystop
