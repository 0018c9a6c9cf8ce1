#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighLossSpike(const CaseFile& run, Hypothesis& out) {
  const Finding* spike = run.FindFirst("loss/spike");
  if (spike == nullptr || !LearningOf(run).Bad()) {
    return;
  }
  Evidence evidence = Decisive(
      "series",
      spike->series + " jumped from " + HumanNumber(spike->Number("usual_loss").value_or(0)) +
          " to " + HumanNumber(spike->Number("loss").value_or(0)) + " and has stayed near " +
          HumanNumber(spike->Number("loss_since").value_or(0)),
      spike->facts);
  evidence.series = spike->series;
  evidence.step_from = spike->step_from;
  evidence.step_to = spike->step_to;
  out.Add(std::move(evidence));
}

}  // namespace whystop
