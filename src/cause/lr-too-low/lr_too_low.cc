#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighLrTooLow(const CaseFile& run, Hypothesis& out) {
  const Finding* small = run.FindFirst("update/ratio-too-small");
  const LearningView learning = LearningOf(run);
  if (small == nullptr || run.FindFirst("gradient/zero") != nullptr ||
      run.FindFirst("gradient/vanishing") != nullptr || learning.basis == nullptr) {
    return;
  }
  const double first = learning.basis->Number("first").value_or(0);
  const double last = learning.basis->Number("last").value_or(0);
  const double ratio = small->Number("ratio").value_or(0);
  const double points = learning.basis->Number("points").value_or(0);
  const bool hardly_moved = ratio <= 1e-5 && std::abs(first - last) < 0.05 * std::abs(first) &&
                            learning.state != Learning::kUnknown;
  // Steps that could not change the weights by a hundredth, all taken in one direction, cannot have
  // taught them; noise in the loss hides nothing. Of a loss that is seen to stay where it was, a
  // twentieth tells as much.
  const double reach = small->Number("reach").value_or(1);
  const bool cannot_move = points >= 20 &&
                           (learning.Bad() ? reach < 0.05 : reach < 0.01 && ratio <= 1e-5) &&
                           NotSeenToLearn(run);
  if ((!hardly_moved && !cannot_move) || learning.state == Learning::kDiverged) {
    return;
  }
  const auto rate = LearningRate(run);
  out.Add(Supports("tensor",
                   (rate ? "lr " + HumanNumber(*rate) + ": " : std::string()) +
                       "a step changed the weights by " + HumanNumber(ratio) +
                       " of their size, all steps together by " + Percent(reach) + " at most",
                   small->facts));
  out.Add(Supports("series", learning.text));
  if (rate && ratio > 0) {
    out.Fix("lr " + HumanNumber(*rate) + ": try " +
            HumanNumber(RoundFactor(*rate, std::min(0.001 / ratio, 100.0))) +
            ", then a range test about it");
  }
}

}  // namespace whystop
