#include "diagnose/learning.h"

#include <fmt/format.h>

#include "base/human.h"

namespace whystop {
namespace {

Learning StateNamed(const std::string& name) {
  if (name == "improving") {
    return Learning::kImproving;
  }
  if (name == "converged") {
    return Learning::kConverged;
  }
  if (name == "stalled") {
    return Learning::kStalled;
  }
  if (name == "diverged") {
    return Learning::kDiverged;
  }
  if (name == "never-learned") {
    return Learning::kNeverLearned;
  }
  return Learning::kUnknown;
}

/// The series of a role with the most points; ties go to the first by name.
const Finding* LongestOf(const CaseFile& run, std::string_view role) {
  const Finding* best = nullptr;
  for (const Finding& finding : run.findings) {
    const Fact* fact = finding.FindFact("role");
    if (finding.detector != "loss/trend" || fact == nullptr || fact->text != role) {
      continue;
    }
    if (best == nullptr || finding.Number("points").value_or(0) > best->Number("points").value_or(0)) {
      best = &finding;
    }
  }
  return best;
}

std::string Describe(const Finding& finding) {
  const double points = finding.Number("points").value_or(0);
  if (points < 1) {
    return finding.series + " was never a finite number";
  }
  return fmt::format("{} {} -> {} over {} values", finding.series, HumanNumber(finding.Number("first").value_or(0)),
                     HumanNumber(finding.Number("last").value_or(0)), HumanCount(static_cast<std::int64_t>(points)));
}

bool Improved(const Finding* score) {
  if (score == nullptr) {
    return false;
  }
  const std::string& state = score->FindFact("state")->text;
  return state == "improving" || state == "converged";
}

}  // namespace

LearningAnswer DecideLearning(const CaseFile& run) {
  const Finding* score = LongestOf(run, "validation-score");
  if (score == nullptr) {
    score = LongestOf(run, "train-score");
  }
  bool too_short = false;
  for (const std::string_view role : {"train-loss", "validation-loss", "train-score", "validation-score"}) {
    const Finding* series = LongestOf(run, role);
    if (series == nullptr) {
      continue;
    }
    const std::string& name = series->FindFact("state")->text;
    const Learning state = StateNamed(name);
    too_short = too_short || name == "too-short";
    if (state == Learning::kUnknown) {
      continue;
    }
    // A loss that stands still or rises while the score improves measures something else than learning.
    const bool bad = state == Learning::kNeverLearned || state == Learning::kStalled || state == Learning::kDiverged;
    if (bad && Improved(score) && series->Number("not_finite_at_end").value_or(0) == 0) {
      return {Learning::kUnknown, Describe(*series) + ", but " + Describe(*score)};
    }
    return {state, Describe(*series)};
  }
  if (too_short) {
    return {Learning::kUnknown, "too few values of the loss to say"};
  }
  return {Learning::kUnknown, run.metric_points > 0 ? "the series seen are no loss and no score, or too noisy to say"
                                                    : "no loss was seen"};
}

}  // namespace whystop
