#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighOverfitting(const CaseFile& run, Hypothesis& out) {
  const Finding* turned = run.FindFirst("loss/overfit");
  if (turned == nullptr) {
    return;
  }
  Evidence evidence =
      Decisive("series",
               turned->series + " was best at " + HumanNumber(turned->Number("best").value_or(0)) +
                   " after " + Percent(turned->Number("best_at").value_or(0)) +
                   " of the run and ended at " + HumanNumber(turned->Number("end").value_or(0)) +
                   ", " + HumanNumber(turned->Number("rise_in_noise_units").value_or(0), 2) +
                   " times its noise higher, while the training loss fell on",
               turned->facts);
  evidence.series = turned->series;
  out.Add(std::move(evidence));
}

}  // namespace whystop
