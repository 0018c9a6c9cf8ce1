#include <algorithm>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighNotEnoughSteps(const CaseFile& run, Hypothesis& out) {
  const LearningView learning = LearningOf(run);
  // Weights that begin at an odd size take time to grow or to shrink: bad-init-scale.
  if (learning.state != Learning::kImproving || run.job_alive || !StillNearGuessing(run) ||
      ShareOfGuessing(run) < 0.8 || run.FindFirst("weights/initial-scale") != nullptr) {
    return;
  }
  // After so many steps at the level of guessing it is not the steps that are missing:
  // labels-random.
  if (learning.basis->Number("points").value_or(0) >= 500 && ShareOfGuessing(run) > 0.95) {
    return;
  }
  const double last = learning.basis->Number("last").value_or(0);
  // What lies above the loss of guessing is no learning: outputs get their size, no more.
  const double guess = last / ShareOfGuessing(run);
  const double drop = std::min(learning.basis->Number("first").value_or(0), guess) - last;
  const double late_drop = -learning.basis->Number("end_change").value_or(0);
  // The last third of the run brought its full share of the fall.
  if (drop > 0 && late_drop > 0.3 * drop) {
    out.Add(Supports("series", learning.text + ": it fell as fast at the end as before",
                     learning.basis->facts));
    out.Add(Supports("series", HumanNumber(last) + " is still " + Percent(ShareOfGuessing(run)) +
                                   " of the loss of guessing"));
  }
}

}  // namespace whystop
