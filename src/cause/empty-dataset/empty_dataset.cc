#include <string>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/observed.h"

namespace whystop {
namespace {

/// A loop that takes its batches by hand, from the beginning to the length of something: that is
/// zero.
void WeighLoop(const CaseFile& run, Hypothesis& out) {
  const Observation* loop = LoopNeverTurned(run);
  const auto loop_seen = As<seen::LoopNeverTurned>(loop);
  const std::string over = loop_seen.over.value_or("");
  const bool something_failed =
      run.FindObservation("exception-caught") != nullptr || run.FindObservation("call-failed") != nullptr;
  if (over.find("len(") == std::string::npos || !loop_seen.start || *loop_seen.start != 0 || something_failed) {
    return;
  }
  out.Add(Decisive("loop", "the training loop over `" + over + "` at line " +
                               HumanNumber(OrZero(loop_seen.line), 9) +
                               " made no turn: there are no samples"));
}

}  // namespace

void WeighEmptyDataset(const CaseFile& run, Hypothesis& out) {
  WeighLoop(run, out);
  for (const Observation* loader : ObservationsOf(run, "loader")) {
    const auto loader_seen = As<seen::Loader>(loader);
    if (loader_seen.batches == 0 && OrZero(CountsOf(run).steps) == 0) {
      out.Add(
          Decisive("loader", "the data loader over " + loader_seen.dataset.value_or("") +
                                 " has no batch (data set of " +
                                 HumanNumber(OrZero(loader_seen.dataset_len)) + ", batch_size " +
                                 HumanNumber(OrZero(loader_seen.batch_size)) +
                                 (loader_seen.drop_last.value_or(false) ? ", drop_last" : "") + ")"));
      return;
    }
  }
}

}  // namespace whystop
