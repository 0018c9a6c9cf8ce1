#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

constexpr double kShareAtFault = 0.3;
constexpr double kPointsMin = 20;

}  // namespace

void WeighFrozenOrDetached(const CaseFile& run, Hypothesis& out) {
  const Observation* without = run.FindObservation("parameter-without-gradient");
  const Finding* zero = run.FindFirst("gradient/zero");
  if (Counted(run, "backwards").value_or(0) == 0 || ZeroedBeforeStep(run)) {
    return;
  }
  // A head on top of a graph that is cut learns a little. A few tensors without a gradient (an
  // unused head) are common in sound programs, and a backbone may be cut off on purpose: then the
  // head must have got well away from guessing.
  const double share = without == nullptr
                           ? 0
                           : NumberOf(*without, "count") / std::max(1.0, NumberOf(*without, "of"));
  const LearningView learning = LearningOf(run);
  const bool seen =
      learning.basis != nullptr && learning.basis->Number("points").value_or(0) >= kPointsMin;
  const bool far_from_done = ShareOfGuessing(run) > 0.5 || LearningFailed(run);
  const bool learned_little = seen && (far_from_done || NotSeenToLearn(run));
  if ((share <= kShareAtFault || !learned_little) && !LearningFailed(run)) {
    return;
  }
  if (NoGradientsInOptimizer(run) && !OptimizerHoldsOthers(run)) {
    out.Add(Decisive("tensor", "backward() ran " +
                                   HumanNumber(Counted(run, "backwards").value_or(0)) +
                                   " times, and not one tensor of the model got a gradient: the "
                                   "loss is cut off from the model"));
    out.Fix(
        "compute the loss from the model's outputs by differentiable operations: no .data, "
        ".detach(), .item(), argmax or numpy on the "
        "way, and no new tensor made with requires_grad=True");
    return;
  }
  if (without != nullptr && share < 1) {
    const std::string text = HumanNumber(NumberOf(*without, "count")) + " of " +
                             HumanNumber(NumberOf(*without, "of")) +
                             " tensors get no gradient: " + TextOf(*without, "names");
    out.Add(share > kShareAtFault && far_from_done ? Decisive("tensor", text)
                                                   : Supports("tensor", text));
  }
  if (zero != nullptr && run.FindFirst("activation/dead") == nullptr && without != nullptr) {
    out.Add(Supports("tensor", "gradients of " + zero->series + " are exactly zero", zero->facts));
  }
}

}  // namespace whystop
