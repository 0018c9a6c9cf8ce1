#include <algorithm>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

constexpr double kShrinkMin = 0.01;

/// A penalty, whatever it is called and wherever it stands. Not the weights of units that died of
/// something else, nor those that began too large.
void WeighVanished(const CaseFile& run, double shrink, Hypothesis& out) {
  const Finding* vanished = run.FindFirst("weights/vanished");
  const bool died =
      run.FindFirst("gradient/zero") != nullptr || run.FindFirst("activation/dead") != nullptr;
  if (vanished == nullptr || run.FindFirst("weights/initial-scale") != nullptr ||
      (died && shrink < kShrinkMin)) {
    return;
  }
  const auto calls = ObservationsOf(run, "loss-call");
  const bool one_answer = !calls.empty() && GivesOneAnswer(*calls.back(), 1e-3);
  const std::string text = vanished->series + " shrank from " +
                           HumanNumber(vanished->Number("from").value_or(0)) + " to " +
                           HumanNumber(vanished->Number("to").value_or(0)) +
                           ", and most other weights too: something pulls them to zero";
  out.Add(one_answer ? Decisive("tensor", text, vanished->facts)
                     : Supports("tensor", text, vanished->facts));
}

}  // namespace

void WeighOverRegularised(const CaseFile& run, Hypothesis& out) {
  // Held down, a classifier may creep towards the level of guessing from above all the time.
  const double shrink = ShrinkPerStep(run);
  const bool held_down = LearningFailed(run) || ShareOfGuessing(run) > 0.65 ||
                         (shrink >= kShrinkMin && NotSeenToLearn(run));
  if (!held_down || LossLost(run) != nullptr) {
    return;
  }
  WeighVanished(run, shrink, out);
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
    const double momentum = NumberOf(*optimizers.front(), "momentum");
    out.Add(Decisive("optimizer",
                     "weight_decay " + HumanNumber(NumberOf(*optimizers.front(), "weight_decay")) +
                         " with lr " + HumanNumber(LearningRate(run).value_or(0)) +
                         (momentum > 0 ? " and momentum " + HumanNumber(momentum) : "") +
                         " shrinks every weight by " + Percent(std::min(shrink, 1.0)) + " a step"));
  } else if (!text.empty()) {
    out.Add(Supports("optimizer", text));
    out.Add(Supports("series", learning.text));
  }
}

}  // namespace whystop
