#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighFrozenParams(const CaseFile& run, Hypothesis& out) {
  const Observation* model = run.FindObservation("model");
  if (model == nullptr || NumberOf(*model, "parameters") == 0 || !model->Number("trainable")) {
    return;
  }
  const double share = NumberOf(*model, "trainable") / NumberOf(*model, "parameters");
  const std::string text = HumanNumber(NumberOf(*model, "trainable")) + " of " +
                           HumanNumber(NumberOf(*model, "parameters"), 9) + " parameters of " +
                           TextOf(*model, "name") + " can be trained";
  if (share == 0) {
    out.Add(Decisive("model", text));
  } else if (share < 0.05 && LearningFailed(run)) {
    out.Add(Supports("model", text + " (requires_grad)"));
    out.Add(Supports("series", LearningOf(run).text));
  }
}

}  // namespace whystop
