#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

/// The loss is NaN, and a loss that the program prints goes on as a number.
void WeighPrinted(const CaseFile& run, const Finding& lost, Hypothesis& out) {
  constexpr double kLostMin = 5;
  for (const Finding& shown : run.findings) {
    const bool train_loss =
        shown.detector == "loss/trend" && FactText(shown, "role") == "train-loss";
    if (train_loss && shown.Number("not_finite").value_or(0) == 0 &&
        shown.Number("points").value_or(0) >= 3 && shown.at > lost.at &&
        lost.Number("not_finite").value_or(0) >= kLostMin) {
      out.Add(Decisive("series",
                       "the program shows " + shown.series + " as " +
                           HumanNumber(shown.Number("last").value_or(0)) +
                           " to the end, while the loss has been " + FactText(lost, "first") +
                           (lost.step_from ? " since step " + HumanCount(*lost.step_from) : ""),
                       shown.facts));
      return;
    }
  }
}

}  // namespace

void WeighNanHiddenByLogger(const CaseFile& run, Hypothesis& out) {
  if (const Finding* lost = LossLost(run)) {
    WeighPrinted(run, *lost, out);
    return;
  }
  const Finding* gradient = run.FindFirst("gradient/not-finite");
  const LearningView learning = LearningOf(run);
  if (gradient == nullptr || learning.basis == nullptr || LossLost(run) != nullptr) {
    return;
  }
  if (gradient->Number("lasting").value_or(0) > 0 &&
      learning.basis->Number("last").value_or(1) == 0) {
    out.Add(Decisive("series",
                     gradient->series + " is not a number to the end while " +
                         learning.basis->series +
                         " is shown as exactly 0: the logger leaves NaN losses out",
                     gradient->facts));
  }
}

}  // namespace whystop
