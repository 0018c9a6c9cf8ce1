#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighUnscaledInputs(const CaseFile& run, Hypothesis& out) {
  const Observation* input = ModelInput(run);
  const LearningView learning = LearningOf(run);
  const bool learned = learning.Good() || learning.basis == nullptr ||
                       learning.basis->Number("points").value_or(0) < 50;
  if (input == nullptr || (learned && !LearningFailed(run)) ||
      run.FindFirst("data/not-finite") != nullptr) {
    return;
  }
  const Observation* model = run.FindObservation("model");
  const bool normalises = model != nullptr && !TextOf(*model, "norms").empty();
  const double size = SizeOf(*input);
  const double narrow = NumberOf(*input, "column_std_min");
  const double wide = NumberOf(*input, "column_std_max");
  std::string text;
  if (size > 30) {
    text = "the inputs go from " + HumanNumber(NumberOf(*input, "min")) + " to " +
           HumanNumber(NumberOf(*input, "max"));
  } else if (narrow > 0 && wide > 10 && wide > 1000 * narrow) {
    text = "the columns of the inputs spread between " + HumanNumber(narrow) + " and " +
           HumanNumber(wide);
  } else if (size > 0 && size < 2e-3) {
    text = "the inputs are tiny: from " + HumanNumber(NumberOf(*input, "min")) + " to " +
           HumanNumber(NumberOf(*input, "max"));
  }
  if (!text.empty()) {
    out.Add(normalises ? Supports("batch", text + ", before the first normalisation")
                       : Decisive("batch", text));
    out.Fix("subtract the mean " + HumanNumber(NumberOf(*input, "mean")) +
            " and divide by the spread " + HumanNumber(NumberOf(*input, "std")) +
            " (column by column for a table)");
  }
}

}  // namespace whystop
