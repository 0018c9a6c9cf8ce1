#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighOrderNotShuffled(const CaseFile& run, Hypothesis& out) {
  const auto loaders = ObservationsOf(run, "loader");
  const Observation* training = nullptr;
  for (const Observation* loader : loaders) {
    training = training == nullptr || NumberOf(*loader, "dataset_len") > NumberOf(*training, "dataset_len") ? loader : training;
  }
  if (training == nullptr || NumberOf(*training, "shuffle") > 0) {
    return;
  }
  for (const Observation* labels : ObservationsOf(run, "labels")) {
    const double classes = NumberOf(*labels, "classes");
    const double samples = NumberOf(*labels, "samples") / std::max(NumberOf(*labels, "batches"), 1.0);
    const double distinct = NumberOf(*labels, "distinct_in_batch_mean");
    if (labels->Number("loader") != training->Number("loader") || classes < 2 || samples < 8 || NumberOf(*labels, "batches") < 4) {
      continue;
    }
    const double expected = classes * (1 - std::pow(1 - 1 / classes, samples));
    if (distinct < 0.5 * expected + 0.1 && NumberOf(*labels, "majority") < 0.9) {
      out.Add(Decisive("labels", "a batch of " + HumanNumber(samples) + " samples holds " + HumanNumber(distinct) + " of " + HumanNumber(classes) +
                                     " classes; mixed data would hold " + HumanNumber(expected) + ". The loader does not shuffle"));
      out.Fix("DataLoader(..., shuffle=True)");
      return;
    }
  }
}

}  // namespace whystop
