#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighSaturation(const CaseFile& run, Hypothesis& out) {
  const Finding* pinned = run.FindFirst("activation/saturated");
  const Finding* vanishing = run.FindFirst("gradient/vanishing");
  if ((pinned == nullptr && vanishing == nullptr) || !NotSeenToLearn(run) ||
      LossLost(run) != nullptr) {
    return;
  }
  const Observation* model = run.FindObservation("model");
  const std::string activations = model == nullptr ? "" : TextOf(*model, "activations");
  const bool squashes = activations.empty() || MentionsAny(activations, {"sigmoid", "tanh"});
  if (vanishing != nullptr && (squashes || pinned != nullptr)) {
    const std::string text = "the gradient of " + vanishing->series + " is " +
                             HumanNumber(vanishing->Number("ratio").value_or(0)) +
                             " times that of " + FactText(*vanishing, "last_layer_name");
    out.Add(LearningFailed(run) ? Decisive("tensor", text, vanishing->facts)
                                : Supports("tensor", text, vanishing->facts));
  }
  if (pinned != nullptr) {
    out.Add(Supports("tensor",
                     Percent(pinned->Number("share").value_or(0)) + " of the outputs of " +
                         pinned->series + " stand at the ends of their range",
                     pinned->facts));
    out.Add(Supports("series", LearningOf(run).text));
  }
}

}  // namespace whystop
