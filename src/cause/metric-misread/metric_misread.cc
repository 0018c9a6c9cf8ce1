#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighMetricMisread(const CaseFile& run, Hypothesis& out) {
  const Finding* loss = nullptr;
  const Finding* score = nullptr;
  for (const Finding& finding : run.findings) {
    if (finding.detector != "loss/trend") {
      continue;
    }
    const std::string state = FactText(finding, "state");
    const std::string role = FactText(finding, "role");
    loss = role == "train-loss" && state == "diverged" && finding.Number("not_finite_at_end").value_or(0) == 0 ? &finding : loss;
    score = role == "train-score" && (state == "improving" || state == "converged") ? &finding : score;
  }
  if (loss != nullptr && score != nullptr) {
    out.Add(Supports("series", loss->series + " rose to " + HumanNumber(loss->Number("last").value_or(0)) + " while " + score->series +
                                   " improved to " + HumanNumber(score->Number("last").value_or(0)) +
                                   ": one of them does not measure what it seems to", loss->facts));
  }
}

}  // namespace whystop
