#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighEmptyDataset(const CaseFile& run, Hypothesis& out) {
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
