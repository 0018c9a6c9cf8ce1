#include "sign/near_guessing.h"

#include <cmath>

#include "base/human.h"
#include "model/observations.h"
#include "sign/guessing.h"
#include "sign/learning.h"
#include "sign/loss_calls.h"
#include "sign/observed.h"
#include "sign/target_mean.h"
#include "sign/words.h"

namespace whystop {

std::string DescribeGuessing(const CaseFile& run) {
  const Finding* flat = run.FindFirst("loss/plateau-from-start");
  if (flat != nullptr && !FactText(*flat, "guess").empty()) {
    return flat->series + " stays at " + HumanNumber(flat->Number("level").value_or(0)) +
           ", the level of guessing (" + FactText(*flat, "guess") + ")";
  }
  const LearningView learning = LearningOf(run);
  const auto guess = LossOfGuessing(run);
  if (!guess || learning.basis == nullptr) {
    return {};
  }
  const double last = learning.basis->Number("last").value_or(0);
  if (learning.state == Learning::kUnknown) {
    // Noise hides a slow fall, but not that after so long it is where guessing would be.
    const double margin = 2 * learning.basis->Number("level_noise").value_or(0);
    const bool still_there = learning.basis->Number("points").value_or(0) >= 300 &&
                             margin < 0.05 * *guess && std::abs(last - *guess) < margin;
    return still_there
               ? learning.basis->series + " is at " + HumanNumber(last) + " after " +
                     HumanNumber(learning.basis->Number("points").value_or(0)) +
                     " steps, within its noise the level of guessing (" + HumanNumber(*guess) + ")"
               : std::string();
  }
  if (learning.state == Learning::kImproving) {
    const bool began_there = last < *guess && learning.basis->Number("first").value_or(0) < 1.1 * *guess;
    // Down to there from above: outputs got their size, and no more.
    const bool rests_there =
        last < 1.05 * *guess && std::abs(learning.basis->Number("end_change").value_or(last)) < 0.05 * *guess;
    const bool learns_by_heart = last > 0.95 * *guess && (began_there || rests_there) &&
                                 learning.basis->Number("points").value_or(0) >= 500;
    return learns_by_heart
               ? learning.basis->series + " is still at " + HumanNumber(last) + " after " +
                     HumanNumber(learning.basis->Number("points").value_or(0)) +
                     " steps, about the level of guessing (" + HumanNumber(*guess) + ")"
               : std::string();
  }
  const bool at_guessing = last > 0.9 * *guess && last < 1.1 * *guess &&
                           learning.basis->Number("points").value_or(0) >= 100;
  return at_guessing ? learning.basis->series + " came to rest at " + HumanNumber(last) +
                           ", the level of guessing (" + HumanNumber(*guess) + ")"
                     : std::string();
}

bool LearnsNumbers(const CaseFile& run) {
  const auto regression = RegressionCalls(run);
  const Observation* last = nullptr;
  for (const Observation* call : ObservationsOf(run, "loss-call")) {
    last = As<seen::LossCall>(*call).grad_enabled.value_or(true) ? call : last;
  }
  return !regression.empty() && regression.back() == last;
}

std::optional<double> LevelOfGuessing(const CaseFile& run, const Finding& loss) {
  if (FactText(loss, "role") != "train-loss") {
    return std::nullopt;  // A reward has none, and what is held out may be measured otherwise.
  }
  if (LearnsNumbers(run)) {
    return LossOfTheMean(run, loss.Number("first").value_or(0), loss.Number("last").value_or(0));
  }
  const auto classes = LossOfGuessing(run);
  return classes && IsComparable(run, loss, *classes) ? classes : std::nullopt;
}

double ShareOfGuessing(const CaseFile& run) {
  const LearningView learning = LearningOf(run);
  if (learning.basis == nullptr) {
    return 0;
  }
  const auto guess = LevelOfGuessing(run, *learning.basis);
  return guess ? learning.basis->Number("last").value_or(0) / *guess : 0;
}

bool StillNearGuessing(const CaseFile& run) {
  const LearningView learning = LearningOf(run);
  return learning.basis != nullptr && learning.basis->Number("points").value_or(0) >= 50 &&
         LossOfGuessing(run) && ShareOfGuessing(run) > 0.7;
}

}  // namespace whystop
