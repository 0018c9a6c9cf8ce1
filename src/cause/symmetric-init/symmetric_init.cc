#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighSymmetricInit(const CaseFile& run, Hypothesis& out) {
  const Observation* same = run.FindObservation("identical-rows");
  if (same == nullptr || LossLost(run) != nullptr) {
    return;
  }
  // One tensor may be meant so (a last layer that begins at zero); a net whose layers all do so
  // learns like one with a single unit in each.
  const bool learns_little = NumberOf(*same, "count") >= 2 && ShareOfGuessing(run) > 0.5;
  if (!NotSeenToLearn(run) && !learns_little) {
    return;
  }
  out.Add(Decisive("tensor",
                   "all units of " + TextOf(*same, "names") +
                       " began with the same weights, so they get the same gradient for ever"));
  out.Fix("give " + TextOf(*same, "names") +
          " random initial weights: torch.nn.init.kaiming_uniform_ or xavier_uniform_");
}

}  // namespace whystop
