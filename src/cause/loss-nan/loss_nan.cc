#include "base/human.h"
#include "cause/evidence.h"
#include "cause/loop_facts.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighLossNan(const CaseFile& run, Hypothesis& out) {
  const Finding* lost = LossLost(run);
  if (lost == nullptr) {
    // A loop that tests its loss leaves before the value gets anywhere.
    if (LeftForALossNotFinite(run)) {
      const Observation* exit = FinalExit(run);
      out.Add(Decisive("loop", "the loss was not finite when " + DescribeExit(*exit) +
                                   " ended the loop" + DescribeTurn(*exit)));
    }
    return;
  }
  std::string text = lost->series + " became " + FactText(*lost, "first");
  if (lost->step_from) {
    text += " at step " + HumanCount(*lost->step_from);
  }
  if (const auto before = lost->Number("before")) {
    text += ", after " + HumanNumber(*before);
  }
  Evidence evidence = Decisive("series", text + ", and never was a number again", lost->facts);
  evidence.series = lost->series;
  evidence.step_from = lost->step_from;
  evidence.step_to = lost->step_to;
  out.Add(std::move(evidence));
  if (run.FindObservation("nonfinite") == nullptr) {
    out.Add(Missing("probe",
                    "which tensor was the first to hold a NaN; run under the probe to see it"));
  }
}

}  // namespace whystop
