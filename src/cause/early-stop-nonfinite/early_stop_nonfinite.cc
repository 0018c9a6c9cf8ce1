#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighEarlyStopNonfinite(const CaseFile& run, Hypothesis& out) {
  const Observation* stop = run.FindObservation("framework-stop");
  const bool watches = stop != nullptr && (stop->Number("patience") || stop->Number("early_stopping_patience"));
  if (watches && LossLost(run) != nullptr) {
    out.Add(Decisive("framework", TextOf(*stop, "who") + " asked " + TextOf(*stop, "framework") + " to stop after the loss was no longer finite"));
  }
}

}  // namespace whystop
