#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/training_facts.h"

namespace whystop {
namespace {

constexpr double kStepsMin = 5;
constexpr double kShrinkMin = 0.01;

bool TrainedByKeras(const Training& training) {
  const Observation* plan = training.run.FindObservation("framework");
  return plan != nullptr && MentionsAny(TextOf(*plan, "name"), {"keras"});
}

}  // namespace

Sign LookMachinerySound(const Training& training) {
  return AnswerSign(LearnsSoundly(training.run), "tensor",
                    "steps, gradients and updates are of ordinary size, and the outputs differed "
                    "from sample to sample");
}

Sign LookStepsWithoutBackward(const Training& training) {
  const double steps = Counted(training.run, "steps").value_or(0);
  const Observation* present = training.run.FindObservation("gradients-present");
  const bool none =
      steps >= kStepsMin && Counted(training.run, "backwards").value_or(1) == 0 &&
      present != nullptr &&
      NumberOf(*present, "without") >= NumberOf(*present, "tensors") - NumberOf(*present, "frozen");
  return AnswerSign(none, "calls",
                    "optimizer.step() was called " + HumanNumber(steps) +
                        " times, backward() never; no parameter has a gradient");
}

Sign LookBackwardWithoutStep(const Training& training) {
  const double backwards = Counted(training.run, "backwards").value_or(0);
  const double steps = Counted(training.run, "steps").value_or(0) +
                       Counted(training.run, "skipped_steps").value_or(0);
  const bool trains = Counted(training.run, "zero_grads").value_or(0) +
                          Counted(training.run, "loss_calls").value_or(0) >
                      0;
  // Gradients may be added up over hundreds of batches: a run that steps, and learns, is sound.
  const bool accumulates = steps > 0 && training.learning.Good();
  return AnswerSign(backwards >= kStepsMin && trains && steps * 50 <= backwards && !accumulates,
                    "calls",
                    "backward() was called " + HumanNumber(backwards) +
                        " times, optimizer.step() " +
                        (steps == 0 ? std::string("never") : HumanNumber(steps) + " times"));
}

Sign LookGradientsNeverReset(const Training& training) {
  constexpr double kStepsOfAReset = 20;  // Once an epoch, say, where every batch makes a step.
  const double steps = Counted(training.run, "steps").value_or(0);
  const double resets = Counted(training.run, "zero_grads").value_or(steps);
  return AnswerSign(steps >= kStepsMin && resets * kStepsOfAReset <= steps &&
                        Counted(training.run, "backwards").value_or(0) >= steps,
                    "calls",
                    "zero_grad() was " + (resets == 0 ? "never called" : "called " + HumanNumber(resets) + " times") +
                        " in " + HumanNumber(steps) + " steps: gradients of many batches add up");
}

Sign LookBackwardRan(const Training& training) {
  const auto backwards = Counted(training.run, "backwards");
  return backwards ? AnswerSign(*backwards > 0, "calls", "backward() ran") : NotSeenSign();
}

Sign LookOptimizerHoldsOthers(const Training& training) {
  if (training.optimizer == nullptr) {
    return NotSeenSign();
  }
  const double orphans = NumberOf(*training.optimizer, "tensors_of_no_module");
  return AnswerSign(OptimizerHoldsOthers(training.run), "optimizer",
                    "the tensors of " + TextOf(*training.optimizer, "name") +
                        " are not those of the model that computes the loss" +
                        (orphans > 0 ? "; " + HumanNumber(orphans) +
                                           " of them belong to no module that is alive"
                                     : ""));
}

bool HadGradients(const Observation& present) {
  return NumberOf(present, "without") < NumberOf(present, "tensors") - NumberOf(present, "frozen");
}

/// No backward pass reaches what the optimizer holds any more, whether old gradients lie there or have been cleared: it
/// holds the tensors of a model that was trained before.
Sign LookGradientsStale(const Training& training) {
  const auto checks = ObservationsOf(training.run, "gradients-present");
  for (const Observation* present : checks) {
    // None at all at the first check is another matter: then backward() never reached them.
    const double stale = NumberOf(*present, "stale") +
                         (HadGradients(*checks.front()) ? NumberOf(*present, "without") : 0);
    if (stale > 0 && stale >= NumberOf(*present, "tensors") - NumberOf(*present, "frozen")) {
      return YesSign("optimizer",
                     "from step " + HumanNumber(static_cast<double>(present->step.value_or(0)), 9) +
                         " on no backward() touches the " + HumanNumber(stale) +
                         " tensors that the optimizer holds: they are those of a model that is no longer trained");
    }
  }
  return NoSign();
}

/// A new head on old weights leaves a few tensors out; who loads a checkpoint means most of it.
Sign LookWeightsNotLoaded(const Training& training) {
  for (const Observation* loaded : ObservationsOf(training.run, "weights-loaded")) {
    const double taken = NumberOf(*loaded, "taken");
    if (taken < NumberOf(*loaded, "missing")) {
      const std::string others = TextOf(*loaded, "unexpected_names");
      return YesSign("model", "loading weights into " + TextOf(*loaded, "module") + " took " +
                                  HumanNumber(taken) + " of " +
                                  HumanNumber(NumberOf(*loaded, "given")) + " tensors and left " +
                                  HumanNumber(NumberOf(*loaded, "missing")) +
                                  " of the model as they were: " +
                                  (others.empty() ? "among them " : "the checkpoint has " + others + ", the model ") +
                                  TextOf(*loaded, "missing_names"));
    }
  }
  return NoSign();
}

/// A training step of the user's own that does not apply its gradients: Keras counts it all the same.
Sign LookStepsChangeNothing(const Training& training) {
  const Finding* unchanged = training.run.FindFirst("weights/unchanged");
  return AnswerSign(unchanged != nullptr && TrainedByKeras(training), "tensor",
                    unchanged == nullptr
                        ? std::string()
                        : "no weight changed in " + HumanNumber(unchanged->Number("steps").value_or(0), 9) +
                              " steps of fit: they do not apply their gradients");
}

/// In Keras the variables that are trained are those that were trainable when the model was compiled.
Sign LookUnfrozenAfterCompile(const Training& training) {
  const Observation* left = LeftInNoOptimizer(training.run);
  return AnswerSign(left != nullptr && TrainedByKeras(training), "optimizer",
                    left == nullptr ? std::string()
                                    : HumanNumber(NumberOf(*left, "count")) +
                                          " variables are trainable now and were not when the "
                                          "model was compiled: they are not trained (" +
                                          TextOf(*left, "names") + ")");
}

Sign LookFreezingMisspelt(const Training& training) {
  for (const Observation* optimizer : ObservationsOf(training.run, "optimizer")) {
    const std::string name = TextOf(*optimizer, "misspelt");
    if (!name.empty()) {
      return YesSign("model", "parameters were given `" + name +
                                  " = True`, which PyTorch does not know, and stay frozen: it is "
                                  "spelt requires_grad");
    }
  }
  return NoSign();
}

/// Training the head alone is often meant so; then it learns.
Sign LookTensorsInNoOptimizer(const Training& training) {
  const Observation* left = LeftInNoOptimizer(training.run);
  return AnswerSign(left != nullptr, "optimizer",
                    left == nullptr ? std::string()
                                    : HumanNumber(NumberOf(*left, "count")) +
                                          " trainable tensors are in no optimizer: " +
                                          TextOf(*left, "names"));
}

Sign LookManyInNoOptimizer(const Training& training) {
  constexpr double kMany = 0.3;
  const Observation* left = LeftInNoOptimizer(training.run);
  if (left == nullptr || training.optimizer == nullptr) {
    return NoSign();
  }
  const double count = NumberOf(*left, "count");
  const double held = NumberOf(*training.optimizer, "tensors");
  return AnswerSign(count > kMany * (count + held), "optimizer",
                    HumanNumber(count) + " of " + HumanNumber(count + held) +
                        " trainable tensors are in no optimizer: " + TextOf(*left, "names"));
}

Sign LookAllFrozen(const Training& training) {
  if (training.model == nullptr || NumberOf(*training.model, "parameters") == 0 ||
      !training.model->Number("trainable")) {
    return NotSeenSign();
  }
  return AnswerSign(NumberOf(*training.model, "trainable") == 0, "model",
                    "0 of " + HumanNumber(NumberOf(*training.model, "parameters"), 9) +
                        " parameters of " + TextOf(*training.model, "name") + " can be trained");
}

/// The head of a large model on classes it has not seen is a few per cent of it.
Sign LookMostFrozen(const Training& training) {
  constexpr double kShareMin = 0.05;
  if (training.model == nullptr || NumberOf(*training.model, "parameters") == 0 ||
      !training.model->Number("trainable")) {
    return NotSeenSign();
  }
  const Observation& model = *training.model;
  const bool biases_only =
      NumberOf(model, "matrices") > 0 && model.Number("trainable_matrices") == 0.0;
  return AnswerSign(
      NumberOf(model, "trainable") < kShareMin * NumberOf(model, "parameters") || biases_only,
      "model",
      HumanNumber(NumberOf(model, "trainable")) + " of " +
          HumanNumber(NumberOf(model, "parameters"), 9) + " parameters of " +
          TextOf(model, "name") + " can be trained (requires_grad)" +
          (biases_only ? ", and no weight matrix is among them" : ""));
}

Sign LookFewParameters(const Training& training) {
  constexpr double kFew = 20;
  return training.model == nullptr
             ? NotSeenSign()
             : AnswerSign(NumberOf(*training.model, "parameters") <= kFew, "model",
                          TextOf(*training.model, "name") + " has " +
                              HumanNumber(NumberOf(*training.model, "parameters")) +
                              " parameters");
}

Sign LookEvalModeCameBack(const Training& training) {
  const auto modes = ObservationsOf(training.run, "mode");
  return AnswerSign(!modes.empty() && NumberOf(*modes.front(), "training") > 0, "model",
                    "it had been in training mode before");
}

Sign LookEvalMode(const Training& training) {
  constexpr double kShareMin = 0.3;
  constexpr double kSteps = 10;
  const auto modes = ObservationsOf(training.run, "mode");
  const double steps = Counted(training.run, "steps").value_or(0);
  if (modes.empty() || training.model == nullptr || steps < kSteps) {
    return NotSeenSign();
  }
  const std::string dropouts = TextOf(*training.model, "dropouts");
  const std::string norms = TextOf(*training.model, "norms");
  const double since = static_cast<double>(modes.back()->step.value_or(0));
  return AnswerSign(NumberOf(*modes.back(), "training") == 0 && steps - since >= kShareMin * steps &&
                        (!dropouts.empty() || MentionsAny(norms, {"batchnorm"})),
                    "model",
                    "the model was in eval mode in every optimizer step from step " +
                        HumanNumber(since) + " of " + HumanNumber(steps) + " on; it has " +
                        dropouts + (dropouts.empty() ? "" : " ") + norms);
}

Sign LookDropoutHigh(const Training& training) {
  return AnswerSign(
      training.model != nullptr && NumberOf(*training.model, "dropout_max") >= 0.8, "model",
      training.model == nullptr
          ? std::string()
          : "dropout drops " + Percent(NumberOf(*training.model, "dropout_max")) +
                " of the values");
}

Sign LookClipTiny(const Training& training) {
  const Observation* clip = training.run.FindObservation("clip");
  return AnswerSign(clip != nullptr && TextOf(*clip, "how") == "norm" &&
                        NumberOf(*clip, "max_norm") <= 1e-3,
                    "optimizer",
                    clip == nullptr ? std::string()
                                    : "gradients are clipped to a norm of " +
                                          HumanNumber(NumberOf(*clip, "max_norm")));
}

/// Decoupled decay is what it takes off a step: decay-shrinks.
Sign LookDecayHigh(const Training& training) {
  const double decay =
      training.optimizer == nullptr ? 0 : NumberOf(*training.optimizer, "weight_decay");
  return AnswerSign(OptimizerName(training.run) != "AdamW" && decay >= 0.05, "optimizer",
                    "weight_decay " + HumanNumber(decay) + " pulls every weight towards zero");
}

Sign LookDecayShrinks(const Training& training) {
  const double shrink = ShrinkPerStep(training.run);
  if (shrink < kShrinkMin) {
    return NoSign();
  }
  const double momentum = NumberOf(*training.optimizer, "momentum");
  return YesSign("optimizer",
                 "weight_decay " + HumanNumber(NumberOf(*training.optimizer, "weight_decay")) +
                     " with lr " + HumanNumber(LearningRate(training.run).value_or(0)) +
                     (momentum > 0 ? " and momentum " + HumanNumber(momentum) : "") +
                     " shrinks every weight by " + Percent(std::min(shrink, 1.0)) + " a step",
                 {}, shrink / kShrinkMin);
}

}  // namespace whystop
