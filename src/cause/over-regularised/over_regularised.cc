#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

constexpr double kShrinkMin = 0.01;

}  // namespace

void WeighOverRegularised(const CaseFile& run, Hypothesis& out) {
  // Held down, a classifier may creep towards the level of guessing from above all the time.
  const double shrink = ShrinkPerStep(run);
  const bool held_down = LearningFailed(run) || ShareOfGuessing(run) > 0.65 ||
                         (shrink >= kShrinkMin && NotSeenToLearn(run));
  if (!held_down || LossLost(run) != nullptr) {
    return;
  }
  // Whatever the penalty is called and wherever it stands.
  if (const Finding* vanished = run.FindFirst("weights/vanished")) {
    out.Add(Decisive("tensor",
                     vanished->series + " shrank from " +
                         HumanNumber(vanished->Number("from").value_or(0)) + " to " +
                         HumanNumber(vanished->Number("to").value_or(0)) +
                         ", and most other weights too: something pulls them to zero",
                     vanished->facts));
  }
  const LearningView learning = LearningOf(run);
  const Observation* model = run.FindObservation("model");
  const Observation* clip = run.FindObservation("clip");
  const auto optimizers = ObservationsOf(run, "optimizer");
  std::string text;
  if (model != nullptr && NumberOf(*model, "dropout_max") >= 0.8) {
    text = "dropout drops " + Percent(NumberOf(*model, "dropout_max")) + " of the values";
  } else if (clip != nullptr && TextOf(*clip, "how") == "norm" &&
             NumberOf(*clip, "max_norm") <= 1e-3) {
    text = "gradients are clipped to a norm of " + HumanNumber(NumberOf(*clip, "max_norm"));
  } else if (!optimizers.empty()) {
    // Decoupled decay is what it takes off a step, judged below.
    const double decay = NumberOf(*optimizers.front(), "weight_decay");
    if (OptimizerName(run) != "AdamW" && decay >= 0.05) {
      text = "weight_decay " + HumanNumber(decay) + " pulls every weight towards zero";
    }
  }
  if (shrink >= kShrinkMin) {
    out.Add(Decisive("optimizer", "weight_decay " +
                                      HumanNumber(NumberOf(*optimizers.front(), "weight_decay")) +
                                      " with lr " + HumanNumber(LearningRate(run).value_or(0)) +
                                      " shrinks every weight by " + Percent(shrink) + " a step"));
  } else if (!text.empty()) {
    out.Add(Supports("optimizer", text));
    out.Add(Supports("series", learning.text));
  }
}

}  // namespace whystop
