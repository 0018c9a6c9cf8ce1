#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighMissingZeroGrad(const CaseFile& run, Hypothesis& out) {
  const double steps = Counted(run, "steps").value_or(0);
  if (steps < 5 || Counted(run, "zero_grads").value_or(1) > 0 ||
      Counted(run, "backwards").value_or(0) < steps) {
    return;
  }
  const Finding* growth = run.FindFirst("gradient/grows-linearly");
  if (growth == nullptr && !NotSeenToLearn(run) && run.FindFirst("loss/oscillates") == nullptr) {
    return;  // The gradients may be reset by hand (p.grad = None); a run that learns is not blamed.
  }
  out.Add(Decisive("calls", "zero_grad() was never called in " + HumanNumber(steps) +
                                " steps: gradients of all batches add up"));
  if (growth != nullptr) {
    out.Add(Supports("tensor",
                     "gradients grew from " + HumanNumber(growth->Number("from").value_or(0)) +
                         " to " + HumanNumber(growth->Number("to").value_or(0)) +
                         " with the number of steps",
                     growth->facts));
  }
  out.Fix("call optimizer.zero_grad() once for each optimizer.step()");
}

}  // namespace whystop
