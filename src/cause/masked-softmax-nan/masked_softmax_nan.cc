#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighMaskedSoftmaxNan(const CaseFile& run, Hypothesis& out) {
  const auto reports = ObservationsOf(run, "nonfinite");
  // The log-softmax of a loss function has no mask: outputs that overflowed are what it got.
  if (!reports.empty() && MayBeMasked(TextOf(*reports.front(), "operation")) &&
      NumberOf(*reports.front(), "weights") == 0 &&
      NumberOf(*reports.front(), "operand_from_outside") == 0) {
    out.Add(Decisive("tensor", "the first value that was not finite was " +
                                   TextOf(*reports.front(), "operand") + " of " +
                                   TextOf(*reports.front(), "operation") +
                                   ": a row that is masked altogether does that"));
    return;
  }
  const Observation* layer = run.FindObservation("nonfinite-layer");
  if (layer == nullptr || run.FindObservation("nonfinite") == nullptr ||
      NumberOf(*layer, "inputs_finite") == 0 || NumberOf(*layer, "weights_finite") == 0 ||
      !MentionsAny(TextOf(*layer, "module") + TextOf(*layer, "type"),
                   {"attn", "attention", "softmax"})) {
    return;
  }
  out.Add(Decisive("tensor", "module " + TextOf(*layer, "module") + " (" + TextOf(*layer, "type") +
                                 ") made NaN out of finite inputs and finite weights: a row that "
                                 "is masked altogether does that"));
}

}  // namespace whystop
