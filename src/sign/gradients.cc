#include <algorithm>

#include "base/human.h"
#include "model/observations.h"
#include "sign/observed.h"
#include "sign/optimizer_tensors.h"
#include "sign/policy.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

/// A few tensors without a gradient (an unused head) are common in sound programs.
constexpr double kManyWithout = 0.3;

double ShareWithout(const Observation* without) {
  const auto without_seen = As<seen::ParameterWithoutGradient>(without);
  return without == nullptr ? 0
                            : OrZero(without_seen.count) / std::max(1.0, OrZero(without_seen.of));
}

}  // namespace

/// A state that is cut off between the steps of a sequence: what came before the cut teaches nothing. Who tries actions with
/// gradients on throws most calls away, and means it.
Sign LookCallsCutOff(const Training& training) {
  constexpr double kMost = 0.5;
  if (EarnsReward(training.run)) {
    return NotSeenSign();
  }
  for (const Observation* one : ObservationsOf(training.run, seen::GradientReach::kKind)) {
    const auto reach = As<seen::GradientReach>(*one);
    if (OrZero(reach.reached) < kMost * OrZero(reach.calls)) {
      return YesSign("tensor", "of " + HumanNumber(OrZero(reach.calls)) + " further calls of " + reach.module.value_or("") + " in one step the gradient came back to " +
                                   HumanNumber(OrZero(reach.reached)) + ": what went into the others teaches nothing");
    }
  }
  return NoSign();
}

Sign LookGradientsZero(const Training& training) {
  const Finding* zero = training.run.FindFirst("gradient/zero");
  return ByFinding(zero, "tensor",
                   zero == nullptr ? std::string()
                                   : "gradients of " +
                                         HumanNumber(zero->Number("tensors").value_or(0)) +
                                         " of " + HumanNumber(zero->Number("of").value_or(0)) +
                                         " tensors were exactly zero (" + zero->series + ")");
}

/// The bias of the last layer alone has a gradient: what reaches its weights is zero for every
/// sample, so the rectifiers before it sleep.
Sign LookLastBiasAlone(const Training& training) {
  const Finding* zero = training.run.FindFirst("gradient/zero");
  const double tensors = zero == nullptr ? 0 : zero->Number("tensors").value_or(0);
  const bool rectifies =
      training.model != nullptr && MentionsAny(As<seen::Model>(*training.model).activations.value_or(""), {"relu"});
  return AnswerSign(rectifies && tensors >= 3 && tensors == zero->Number("of").value_or(0) - 1,
                    "tensor",
                    "all gradients but that of one tensor, the last bias, are exactly zero: nothing "
                    "passes the rectifiers");
}

Sign LookGradientsVanish(const Training& training) {
  const Finding* vanishing = training.run.FindFirst("gradient/vanishing");
  return ByFinding(vanishing, "tensor",
                   vanishing == nullptr
                       ? std::string()
                       : "the gradient of " + vanishing->series + " is " +
                             HumanNumber(vanishing->Number("ratio").value_or(0)) +
                             " times that of " + FactText(*vanishing, "last_layer_name"));
}

Sign LookGradientsExplode(const Training& training) {
  const Finding* growth = training.run.FindFirst("gradient/exploding");
  return ByFinding(growth, "series",
                   growth == nullptr ? std::string()
                                     : "gradients grew from " +
                                           HumanNumber(growth->Number("from").value_or(0)) +
                                           " to " + HumanNumber(growth->Number("to").value_or(0)) +
                                           " (largest in " + growth->series + ")");
}

Sign LookGradientsGrowLinearly(const Training& training) {
  const Finding* growth = training.run.FindFirst("gradient/grows-linearly");
  return ByFinding(growth, "tensor",
                   growth == nullptr ? std::string()
                                     : "gradients grew from " +
                                           HumanNumber(growth->Number("from").value_or(0)) +
                                           " to " + HumanNumber(growth->Number("to").value_or(0)) +
                                           " with the number of steps");
}

Sign LookGradientsClipped(const Training& training) {
  const Observation* clip = training.run.FindObservation("clip");
  return training.run.probe_loaded
             ? AnswerSign(clip != nullptr, "optimizer", "gradients are clipped")
             : NotSeenSign();
}

Sign LookGradientsAbsent(const Training& training) {
  return AnswerSign(NoGradientsInOptimizer(training.run), "tensor",
                    "backward() ran " +
                        HumanNumber(OrZero(CountsOf(training.run).backwards)) +
                        " times, and not one tensor that the optimizer holds got a gradient");
}

Sign LookGradientsThrownAway(const Training& training) {
  return AnswerSign(ZeroedBeforeStep(training.run), "calls",
                    "zero_grad() was called between backward() and optimizer.step(): no parameter "
                    "had a gradient at the step");
}

/// A head on top of a graph that is cut learns a little.
Sign LookManyTensorsWithoutGradient(const Training& training) {
  const Observation* without = training.run.FindObservation("parameter-without-gradient");
  const auto without_seen = As<seen::ParameterWithoutGradient>(without);
  if (without == nullptr) {
    return NoSign();
  }
  const double share = ShareWithout(without);
  const std::string text = HumanNumber(OrZero(without_seen.count)) + " of " +
                           HumanNumber(OrZero(without_seen.of)) +
                           " tensors get no gradient: " + without_seen.names.value_or("");
  return share > kManyWithout && share < 1 ? YesSign("tensor", text, {}, share / kManyWithout)
                                           : NoSign(text);
}

Sign LookSomeTensorsWithoutGradient(const Training& training) {
  const Observation* without = training.run.FindObservation("parameter-without-gradient");
  const auto without_seen = As<seen::ParameterWithoutGradient>(without);
  const double share = ShareWithout(without);
  return AnswerSign(share > 0 && share <= kManyWithout, "tensor",
                    without == nullptr ? std::string()
                                       : HumanNumber(OrZero(without_seen.count)) + " of " +
                                             HumanNumber(OrZero(without_seen.of)) +
                                             " tensors get no gradient: " +
                                             without_seen.names.value_or(""));
}

Sign LookUnitsDead(const Training& training) {
  const Finding* dead = training.run.FindFirst("activation/dead");
  return ByFinding(dead, "tensor",
                   dead == nullptr ? std::string()
                                   : Percent(dead->Number("share").value_or(0)) +
                                         " of the units of " + dead->series +
                                         " are zero for every sample");
}

/// A layer that sleeps as a whole lets nothing through, whatever the loss says; part of one may be
/// sparse by design.
Sign LookLayerDead(const Training& training) {
  const Finding* dead = training.run.FindFirst("activation/dead");
  return AnswerSign(dead != nullptr && dead->Number("share").value_or(0) > 0.999 &&
                        training.run.FindFirst("gradient/zero") != nullptr,
                    "tensor",
                    dead == nullptr ? std::string()
                                    : "no unit of " + dead->series +
                                          " wakes for any sample, and no gradient gets through");
}

Sign LookUnitsSaturated(const Training& training) {
  const Finding* pinned = training.run.FindFirst("activation/saturated");
  return ByFinding(pinned, "tensor",
                   pinned == nullptr ? std::string()
                                     : Percent(pinned->Number("share").value_or(0)) +
                                           " of the outputs of " + pinned->series +
                                           " stand at the ends of their range");
}

/// Sigmoid or tanh; where the model is not known it may.
Sign LookModelSquashes(const Training& training) {
  const std::string activations =
      training.model == nullptr ? "" : As<seen::Model>(*training.model).activations.value_or("");
  return AnswerSign(activations.empty() || MentionsAny(activations, {"sigmoid", "tanh"}), "model",
                    "the model squashes its values");
}

}  // namespace whystop
