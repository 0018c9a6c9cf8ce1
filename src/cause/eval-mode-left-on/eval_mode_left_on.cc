#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighEvalModeLeftOn(const CaseFile& run, Hypothesis& out) {
  const auto modes = ObservationsOf(run, "mode");
  const Observation* model = run.FindObservation("model");
  const double steps = Counted(run, "steps").value_or(0);
  if (modes.empty() || model == nullptr || NumberOf(*modes.back(), "training") > 0 || steps < 10) {
    return;
  }
  const bool matters =
      !TextOf(*model, "dropouts").empty() || MentionsAny(TextOf(*model, "norms"), {"batchnorm"});
  const double since = static_cast<double>(modes.back()->step.value_or(0));
  if (!matters || (steps - since) < 0.3 * steps) {
    return;
  }
  const bool was_on = NumberOf(*modes.front(), "training") > 0;
  const std::string text =
      "the model was in eval mode in every optimizer step from step " + HumanNumber(since) +
      " of " + HumanNumber(steps) + " on; it has " + TextOf(*model, "dropouts") +
      (TextOf(*model, "dropouts").empty() ? "" : " ") + TextOf(*model, "norms");
  if (was_on) {
    out.Add(Decisive("model", text));
  } else if (LearningFailed(run)) {
    out.Add(Supports("model", text));
    out.Add(Supports("series", LearningOf(run).text));
  }
}

}  // namespace whystop
