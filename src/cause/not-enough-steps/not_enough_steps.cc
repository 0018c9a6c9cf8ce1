#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighNotEnoughSteps(const CaseFile& run, Hypothesis& out) {
  const LearningView learning = LearningOf(run);
  const auto calls = LossCalls(run, {"cross_entropy", "nll_loss"});
  if (learning.state != Learning::kImproving || calls.empty() ||
      learning.basis->Number("points").value_or(0) < 50 || run.job_alive) {
    return;
  }
  const double classes = NumberOf(*calls.back(), "classes");
  const double last = learning.basis->Number("last").value_or(0);
  const double drop = learning.basis->Number("first").value_or(0) - last;
  const double late_drop = -learning.basis->Number("end_change").value_or(0);
  // The last part, a third of the run, brought its full share of the fall, and the loss is still
  // near that of guessing.
  if (classes >= 2 && last > 0.7 * std::log(classes) && late_drop > 0.3 * drop) {
    out.Add(Supports("series", learning.text + ": it fell as fast at the end as before",
                     learning.basis->facts));
    out.Add(Supports("series",
                     HumanNumber(last) + " is still " + Percent(last / std::log(classes)) +
                         " of the loss of guessing among " + HumanNumber(classes) + " classes"));
  }
}

}  // namespace whystop
