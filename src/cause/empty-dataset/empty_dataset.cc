#include <string>

#include "base/human.h"
#include "cause/evidence.h"
#include "sign/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

/// A loop that takes its batches by hand, from the beginning to the length of something: that is
/// zero.
void WeighLoop(const CaseFile& run, Hypothesis& out) {
  const Observation* loop = run.FindObservation("loop-never-turned");
  const std::string over = loop != nullptr ? TextOf(*loop, "over") : "";
  if (over.find("len(") == std::string::npos || NumberOf(*loop, "start") != 0) {
    return;
  }
  out.Add(Decisive("loop", "the training loop over `" + over + "` at line " +
                               HumanNumber(NumberOf(*loop, "line"), 9) +
                               " made no turn: there are no samples"));
}

}  // namespace

void WeighEmptyDataset(const CaseFile& run, Hypothesis& out) {
  WeighLoop(run, out);
  for (const Observation* loader : ObservationsOf(run, "loader")) {
    if (loader->Number("batches") == 0.0 && Counted(run, "steps").value_or(0) == 0) {
      out.Add(
          Decisive("loader", "the data loader over " + TextOf(*loader, "dataset") +
                                 " has no batch (data set of " +
                                 HumanNumber(NumberOf(*loader, "dataset_len")) + ", batch_size " +
                                 HumanNumber(NumberOf(*loader, "batch_size")) +
                                 (NumberOf(*loader, "drop_last") > 0 ? ", drop_last" : "") + ")"));
      return;
    }
  }
}

}  // namespace whystop
