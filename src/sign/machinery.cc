#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "model/observations.h"
#include "sign/learning_rate.h"
#include "sign/learns_soundly.h"
#include "sign/observed.h"
#include "sign/optimizer.h"
#include "sign/optimizer_tensors.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

constexpr double kStepsMin = 5;
constexpr double kShrinkMin = 0.01;

bool TrainedByKeras(const Training& training) {
  const Observation* plan = training.run.FindObservation("framework");
  return MentionsAny(As<seen::Framework>(plan).name.value_or(""), {"keras"});
}

}  // namespace

Sign LookMachinerySound(const Training& training) {
  return AnswerSign(LearnsSoundly(training.run), "tensor",
                    "steps, gradients and updates are of ordinary size, and the outputs differed "
                    "from sample to sample");
}

Sign LookStepsWithoutBackward(const Training& training) {
  const double steps = OrZero(CountsOf(training.run).steps);
  const Observation* present = training.run.FindObservation("gradients-present");
  const auto present_seen = As<seen::GradientsPresent>(present);
  const bool none =
      steps >= kStepsMin && CountsOf(training.run).backwards == 0 &&
      present != nullptr &&
      OrZero(present_seen.without) >= OrZero(present_seen.tensors) - OrZero(present_seen.frozen);
  return AnswerSign(none, "calls",
                    "optimizer.step() was called " + HumanNumber(steps) +
                        " times, backward() never; no parameter has a gradient");
}

Sign LookBackwardWithoutStep(const Training& training) {
  const double backwards = OrZero(CountsOf(training.run).backwards);
  const double steps = StepsMade(training.run) + OrZero(CountsOf(training.run).skipped_steps);
  const bool trains = OrZero(CountsOf(training.run).zero_grads) +
                          OrZero(CountsOf(training.run).loss_calls) >
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
  const double steps = OrZero(CountsOf(training.run).steps);
  const auto told = CountsOf(training.run).zero_grads;
  const double resets = told ? OrZero(told) : steps;
  return AnswerSign(steps >= kStepsMin && resets * kStepsOfAReset <= steps &&
                        OrZero(CountsOf(training.run).backwards) >= steps,
                    "calls",
                    "zero_grad() was " + (resets == 0 ? "never called" : "called " + HumanNumber(resets) + " times") +
                        " in " + HumanNumber(steps) + " steps: gradients of many batches add up");
}

Sign LookBackwardRan(const Training& training) {
  const auto backwards = CountsOf(training.run).backwards;
  return backwards ? AnswerSign(*backwards > 0, "calls", "backward() ran") : NotSeenSign();
}

Sign LookOptimizerHoldsOthers(const Training& training) {
  const auto optimizer = As<seen::Optimizer>(training.optimizer);
  if (training.optimizer == nullptr) {
    return NotSeenSign();
  }
  const double orphans = OrZero(optimizer.tensors_of_no_module);
  return AnswerSign(OptimizerHoldsOthers(training.run), "optimizer",
                    "the tensors of " + optimizer.name.value_or("") +
                        " are not those of the model that computes the loss" +
                        (orphans > 0 ? "; " + HumanNumber(orphans) +
                                           " of them belong to no module that is alive"
                                     : ""));
}

bool HadGradients(const Observation& present) {
  const auto present_seen = As<seen::GradientsPresent>(present);
  return OrZero(present_seen.without) < OrZero(present_seen.tensors) - OrZero(present_seen.frozen);
}

/// No backward pass reaches what the optimizer holds any more, whether old gradients lie there or have been cleared: it
/// holds the tensors of a model that was trained before.
Sign LookGradientsStale(const Training& training) {
  const auto checks = ObservationsOf(training.run, "gradients-present");
  for (const Observation* present : checks) {
    const auto present_seen = As<seen::GradientsPresent>(present);
    // None at all at the first check is another matter: then backward() never reached them.
    const double stale = OrZero(present_seen.stale) +
                         (HadGradients(*checks.front()) ? OrZero(present_seen.without) : 0);
    if (stale > 0 && stale >= OrZero(present_seen.tensors) - OrZero(present_seen.frozen)) {
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
    const auto loaded_seen = As<seen::WeightsLoaded>(loaded);
    const double taken = OrZero(loaded_seen.taken);
    if (taken < OrZero(loaded_seen.missing)) {
      const std::string others = loaded_seen.unexpected_names.value_or("");
      return YesSign("model", "loading weights into " + loaded_seen.module.value_or("") + " took " +
                                  HumanNumber(taken) + " of " +
                                  HumanNumber(OrZero(loaded_seen.given)) + " tensors and left " +
                                  HumanNumber(OrZero(loaded_seen.missing)) +
                                  " of the model as they were: " +
                                  (others.empty() ? "among them " : "the checkpoint has " + others + ", the model ") +
                                  loaded_seen.missing_names.value_or(""));
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
  const auto left_seen = As<seen::ParameterNotInOptimizer>(left);
  const bool kept_out = left != nullptr && left_seen.applied_to.value_or("").empty();
  return AnswerSign(kept_out && TrainedByKeras(training), "optimizer",
                    left == nullptr ? std::string()
                                    : HumanNumber(OrZero(left_seen.count)) +
                                          " variables are trainable now and were not when the "
                                          "model was compiled: they are not trained (" +
                                          left_seen.names.value_or("") + ")");
}

Sign LookFreezingMisspelt(const Training& training) {
  for (const Observation* optimizer : ObservationsOf(training.run, "optimizer")) {
    const std::string name = As<seen::Optimizer>(*optimizer).misspelt.value_or("");
    if (name.ends_with(".requires_grad")) {
      return YesSign("model", "`" + name + " = True` was set on a module, where it means nothing, and its parameters stay frozen: " +
                                  "it is module.requires_grad_(True)");
    }
    if (!name.empty()) {
      return YesSign("model", "parameters were given `" + name +
                                  " = True`, which PyTorch does not know, and stay frozen: it is "
                                  "spelt requires_grad");
    }
  }
  return NoSign();
}

/// A loop by hand that makes the gradients of one model and steps another. Some mean it so (meta-learning); then it learns.
Sign LookGradientsToOthers(const Training& training) {
  const Observation* left = LeftInNoOptimizer(training.run);
  const auto left_seen = As<seen::ParameterNotInOptimizer>(left);
  const std::string others = left_seen.applied_to.value_or("");
  return AnswerSign(!others.empty(), "optimizer",
                    others.empty() ? std::string()
                                   : "gradients are made for " + HumanNumber(OrZero(left_seen.count)) +
                                         " tensors (" + left_seen.names.value_or("") +
                                         ") and applied to others (" + others + ")");
}

/// Training the head alone is often meant so; then it learns.
Sign LookTensorsInNoOptimizer(const Training& training) {
  const Observation* left = LeftInNoOptimizer(training.run);
  const auto left_seen = As<seen::ParameterNotInOptimizer>(left);
  return AnswerSign(left != nullptr, "optimizer",
                    left == nullptr ? std::string()
                                    : HumanNumber(OrZero(left_seen.count)) +
                                          " trainable tensors are in no optimizer: " +
                                          left_seen.names.value_or(""));
}

Sign LookManyInNoOptimizer(const Training& training) {
  constexpr double kMany = 0.3;
  const Observation* left = LeftInNoOptimizer(training.run);
  const auto left_seen = As<seen::ParameterNotInOptimizer>(left);
  if (left == nullptr || training.optimizer == nullptr) {
    return NoSign();
  }
  const double count = OrZero(left_seen.count);
  const double held = OrZero(As<seen::Optimizer>(*training.optimizer).tensors);
  return AnswerSign(count > kMany * (count + held), "optimizer",
                    HumanNumber(count) + " of " + HumanNumber(count + held) +
                        " trainable tensors are in no optimizer: " + left_seen.names.value_or(""));
}

Sign LookAllFrozen(const Training& training) {
  const auto model = As<seen::Model>(training.model);
  if (training.model == nullptr || OrZero(model.parameters) == 0 ||
      !model.trainable) {
    return NotSeenSign();
  }
  return AnswerSign(OrZero(model.trainable) == 0, "model",
                    "0 of " + HumanNumber(OrZero(model.parameters), 9) +
                        " parameters of " + model.name.value_or("") + " can be trained");
}

/// The head of a large model on classes it has not seen is a few per cent of it.
Sign LookMostFrozen(const Training& training) {
  const auto model = As<seen::Model>(training.model);
  constexpr double kShareMin = 0.25;
  if (training.model == nullptr || OrZero(model.parameters) == 0 ||
      !model.trainable) {
    return NotSeenSign();
  }
  // A later stage may train what the first one left as it was: a new optimizer holds it, and all that it holds gets gradients.
  const auto optimizers = ObservationsOf(training.run, seen::Optimizer::kKind);
  const auto last = As<seen::GradientsPresent>(training.run.FindObservation(seen::GradientsPresent::kKind));
  const double held = optimizers.size() < 2 ? 0 : OrZero(As<seen::Optimizer>(*optimizers.back()).parameters);
  if (held > OrZero(model.trainable) && held >= kShareMin * OrZero(model.parameters) && last.frozen == 0 && last.without == 0) {
    return NoSign("an optimizer holds " + HumanNumber(held, 9) + " of its parameters");
  }
  if (held > 0 && held < kShareMin * OrZero(model.parameters)) {
    return YesSign("optimizer", "the last optimizer holds " + HumanNumber(held, 9) + " of the " + HumanNumber(OrZero(model.parameters), 9) +
                                    " parameters of " + model.name.value_or(""));
  }
  const bool biases_only =
      OrZero(model.matrices) > 0 && model.trainable_matrices == 0;
  return AnswerSign(
      OrZero(model.trainable) < kShareMin * OrZero(model.parameters) || biases_only,
      "model",
      HumanNumber(OrZero(model.trainable)) + " of " +
          HumanNumber(OrZero(model.parameters), 9) + " parameters of " +
          model.name.value_or("") + " can be trained (requires_grad)" +
          (biases_only ? ", and no weight matrix is among them" : ""));
}

/// However many there are: a product of matrices is one matrix.
Sign LookLayersAreLinear(const Training& training) {
  const Observation* layers = training.run.FindObservation(seen::Layers::kKind);
  if (layers == nullptr) {
    return NotSeenSign();
  }
  const auto layers_seen = As<seen::Layers>(*layers);
  return AnswerSign(layers_seen.chained.value_or(false) && layers_seen.nonlinear == false && !layers_seen.narrows.value_or(false), "model",
                    "nothing but sums and products stands between its layers: together they can do what one of them can");
}

Sign LookFewParameters(const Training& training) {
  const auto model = As<seen::Model>(training.model);
  constexpr double kFew = 20;
  return training.model == nullptr
             ? NotSeenSign()
             : AnswerSign(OrZero(model.parameters) <= kFew, "model",
                          model.name.value_or("") + " has " +
                              HumanNumber(OrZero(model.parameters)) +
                              " parameters");
}

Sign LookEvalModeCameBack(const Training& training) {
  const auto modes = ObservationsOf(training.run, "mode");
  return AnswerSign(!modes.empty() && As<seen::Mode>(*modes.front()).training.value_or(false), "model",
                    "it had been in training mode before");
}

Sign LookEvalMode(const Training& training) {
  const auto model = As<seen::Model>(training.model);
  constexpr double kShareMin = 0.3;
  constexpr double kSteps = 10;
  const auto modes = ObservationsOf(training.run, "mode");
  const double steps = OrZero(CountsOf(training.run).steps);
  if (modes.empty() || training.model == nullptr || steps < kSteps) {
    return NotSeenSign();
  }
  const std::string dropouts = model.dropouts.value_or("");
  const std::string norms = model.norms.value_or("");
  const double since = static_cast<double>(modes.back()->step.value_or(0));
  return AnswerSign(!As<seen::Mode>(*modes.back()).training.value_or(false) && steps - since >= kShareMin * steps &&
                        ((!dropouts.empty() && model.dropout_max.value_or(1) > 0) || MentionsAny(norms, {"batchnorm"})),
                    "model",
                    "the model was in eval mode in every optimizer step from step " +
                        HumanNumber(since) + " of " + HumanNumber(steps) + " on; it has " +
                        dropouts + (dropouts.empty() ? "" : " ") + norms);
}

Sign LookDropoutHigh(const Training& training) {
  const auto model = As<seen::Model>(training.model);
  return AnswerSign(
      training.model != nullptr && model.dropout_max.value_or(0) >= 0.8, "model",
      training.model == nullptr
          ? std::string()
          : "dropout drops " + Percent(model.dropout_max.value_or(0)) +
                " of the values");
}

Sign LookClipTiny(const Training& training) {
  const Observation* clip = training.run.FindObservation("clip");
  const auto clip_seen = As<seen::Clip>(clip);
  return AnswerSign(clip_seen.how == "norm" &&
                        clip_seen.max_norm.value_or(0) <= 1e-3,
                    "optimizer",
                    clip == nullptr ? std::string()
                                    : "gradients are clipped to a norm of " +
                                          HumanNumber(clip_seen.max_norm.value_or(0)));
}

/// Whoever shrinks the weights gains more than whoever learns everything there is to learn.
Sign LookPenaltyOutweighs(const Training& training) {
  const auto penalties = ObservationsOf(training.run, "penalty");
  if (penalties.empty() || !training.guess) {
    return NotSeenSign();
  }
  const auto penalty = As<seen::Penalty>(*penalties.front());
  const double first = penalty.value.value_or(0);
  const std::string text = "the penalty on weights (" + penalty.kinds.value_or("") + ") costs " +
                           HumanNumber(first) + " at first, and guessing costs " +
                           HumanNumber(*training.guess);
  return first > *training.guess ? YesSign("model", text, {}, first / *training.guess) : NoSign(text);
}

/// Decoupled decay is what it takes off a step: decay-shrinks.
Sign LookDecayHigh(const Training& training) {
  const double decay =
      As<seen::Optimizer>(training.optimizer).weight_decay.value_or(0);
  return AnswerSign(OptimizerName(training.run) != "AdamW" && decay >= 0.05, "optimizer",
                    "weight_decay " + HumanNumber(decay) + " pulls every weight towards zero");
}

Sign LookDecayShrinks(const Training& training) {
  const auto optimizer = As<seen::Optimizer>(training.optimizer);
  const double shrink = ShrinkPerStep(training.run);
  if (shrink < kShrinkMin) {
    return NoSign();
  }
  const double momentum = optimizer.momentum.value_or(0);
  return YesSign("optimizer",
                 "weight_decay " + HumanNumber(optimizer.weight_decay.value_or(0)) +
                     " with lr " + HumanNumber(LearningRate(training.run).value_or(0)) +
                     (momentum > 0 ? " and momentum " + HumanNumber(momentum) : "") +
                     " shrinks every weight by " + Percent(std::min(shrink, 1.0)) + " a step",
                 {}, shrink / kShrinkMin);
}

}  // namespace whystop
