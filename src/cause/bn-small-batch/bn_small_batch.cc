#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighBnSmallBatch(const CaseFile& run, Hypothesis& out) {
  const Observation* model = run.FindObservation("model");
  const auto loaders = ObservationsOf(run, "loader");
  if (model == nullptr || loaders.empty() || !MentionsAny(TextOf(*model, "norms"), {"batchnorm"})) {
    return;
  }
  const double size = NumberOf(*loaders.front(), "batch_size");
  if (size < 1 || size > 4) {
    return;
  }
  for (const Finding& finding : run.findings) {
    const bool held_out = finding.detector == "loss/trend" && FactText(finding, "role") == "validation-loss";
    const LearningView learning = LearningOf(run);
    if (!held_out || learning.basis == nullptr || !learning.Good()) {
      continue;
    }
    if (finding.Number("last").value_or(0) > 2 * learning.basis->Number("last").value_or(0)) {
      out.Add(Supports("model", TextOf(*model, "norms") + " with batches of " + HumanNumber(size) + " samples"));
      out.Add(Supports("series", finding.series + " ends at " + HumanNumber(finding.Number("last").value_or(0)) + " while " + learning.text, finding.facts));
      return;
    }
  }
}

}  // namespace whystop
