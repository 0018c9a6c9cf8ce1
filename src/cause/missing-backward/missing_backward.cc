#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighMissingBackward(const CaseFile& run, Hypothesis& out) {
  const double steps = Counted(run, "steps").value_or(0);
  const Observation* present = run.FindObservation("gradients-present");
  if (steps >= 5 && ZeroedBeforeStep(run)) {
    out.Add(Decisive("calls",
                     "zero_grad() was called between backward() and optimizer.step(): no parameter "
                     "had a gradient at the step"));
    out.Fix("call zero_grad() before loss.backward(), not after it");
    return;
  }
  if (steps < 5 || Counted(run, "backwards").value_or(1) > 0 || present == nullptr ||
      NumberOf(*present, "without") <
          NumberOf(*present, "tensors") - NumberOf(*present, "frozen")) {
    return;
  }
  out.Add(Decisive("calls", "optimizer.step() was called " + HumanNumber(steps) +
                                " times, backward() never; no parameter has a gradient"));
  out.Fix("call loss.backward() before optimizer.step()");
}

}  // namespace whystop
