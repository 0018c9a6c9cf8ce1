#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighNoOptimizerStep(const CaseFile& run, Hypothesis& out) {
  const double backwards = Counted(run, "backwards").value_or(0);
  const double steps =
      Counted(run, "steps").value_or(0) + Counted(run, "skipped_steps").value_or(0);
  const bool trains =
      Counted(run, "zero_grads").value_or(0) + Counted(run, "loss_calls").value_or(0) > 0;
  // Gradients may be added up over hundreds of batches: a run that steps, and learns, is sound.
  const bool accumulates = steps > 0 && LearningOf(run).Good();
  if (backwards < 5 || !trains || steps * 50 > backwards || accumulates) {
    return;
  }
  out.Add(Decisive("calls",
                   "backward() was called " + HumanNumber(backwards) + " times, optimizer.step() " +
                       (steps == 0 ? std::string("never") : HumanNumber(steps) + " times")));
  out.Fix("call optimizer.step() after loss.backward() in each turn of the loop");
}

}  // namespace whystop
