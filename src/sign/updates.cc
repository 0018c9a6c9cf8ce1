#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "model/observations.h"
#include "sign/answers.h"
#include "sign/learning.h"
#include "sign/learning_rate.h"
#include "sign/loss_calls.h"
#include "sign/observed.h"
#include "sign/optimizer.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

/// What a sound update is, as a share of the weights.
constexpr double kSoundRatio = 0.002;

std::string WithRate(const Training& training, const std::string& text) {
  const auto rate = LearningRate(training.run);
  return rate ? "lr " + HumanNumber(*rate) + ": " + text : text;
}

Fact Number(std::string name, double value) {
  return {.name = std::move(name), .value = value, .text = HumanNumber(value)};
}

}  // namespace

Sign LookUpdatesLarge(const Training& training) {
  const Finding* large = training.run.FindFirst("update/ratio-too-large");
  if (large == nullptr) {
    return training.optimizer == nullptr ? NotSeenSign() : NoSign("updates are of ordinary size");
  }
  const double ratio = large->Number("ratio").value_or(0);
  if (ShrinkPerStep(training.run) > ratio / 2) {
    return NoSign("it is the weight decay that changes the weights");
  }
  const double most = std::max(ratio, large->Number("ratio_highest").value_or(0));
  std::string text = "each step changed the weights by " + Percent(ratio) + " of their size";
  text += most > 2 * ratio ? ", at worst by " + Percent(most) : "";
  Sign sign = ByFinding(large, "tensor", WithRate(training, text));
  if (const auto rate = LearningRate(training.run)) {
    sign.facts.push_back(Number("rate", *rate));
    sign.facts.push_back({.name = "share", .value = ratio, .text = Percent(ratio)});
    sign.facts.push_back(Number(
        "rate_to_try",
        RoundFactor(*rate, kSoundRatio / std::max(ratio, kSoundRatio * 3))));
  }
  return sign;
}

/// The updates that did it were over after a few steps; the weights show them still.
Sign LookWeightsOutgrown(const Training& training) {
  const Finding* outgrown = training.run.FindFirst("weights/outgrown");
  return ByFinding(outgrown, "tensor",
                   outgrown == nullptr
                       ? std::string()
                       : WithRate(training,
                                  "the weights grew to " +
                                      HumanNumber(outgrown->Number("factor").value_or(0), 2) +
                                      " times their size within " +
                                      HumanNumber(outgrown->Number("steps").value_or(0)) +
                                      " steps"));
}

/// A loop that tests its loss ends before updates can be looked at. But the outputs were: ordinary
/// before the first step, and a thousand times their own size and that of the targets a few steps
/// later.
Sign LookOutputsBlewUp(const Training& training) {
  constexpr double kJumpMin = 1e3;
  constexpr double kSoon = 5;
  const auto calls = LossCalls(training.run, {"mse_loss", "l1_loss", "smooth_l1_loss",
                                              "huber_loss", "cross_entropy", "nll_loss"});
  if (calls.size() < 2) {
    return NotSeenSign();
  }
  const auto first = As<seen::LossCall>(*calls.front());
  const double second = OrZero(As<seen::LossCall>(*calls[1]).call);
  if (OrZero(first.call) > 1 || second > kSoon) {
    return NotSeenSign();
  }
  const double before = OutputSize(*calls.front());
  const double after = OutputSize(*calls[1]);
  const double target = std::hypot(first.target_mean.value_or(0), first.target_std.value_or(0));
  return AnswerSign(after >= kJumpMin * std::max({before, target, 1e-6}), "loss-call",
                    "the outputs grew from " + HumanNumber(before) + " to " + HumanNumber(after) +
                        " within " + HumanNumber(second - 1) + " steps");
}

Sign LookRateOutOfRange(const Training& training) {
  const auto rate = LearningRate(training.run);
  if (!rate) {
    return NotSeenSign();
  }
  return AnswerSign(*rate >= (IsAdaptive(training.run) ? 0.1 : 1), "optimizer",
                    "lr " + HumanNumber(*rate) + " is far above what " +
                        OptimizerName(training.run) + " is used with");
}

/// Ten times what most programs use, and still used by some with success.
Sign LookRateAboveUsual(const Training& training) {
  const auto rate = LearningRate(training.run);
  if (!rate) {
    return NotSeenSign();
  }
  return AnswerSign(*rate >= (IsAdaptive(training.run) ? 0.01 : 0.5), "optimizer",
                    "lr " + HumanNumber(*rate) + " is above what " + OptimizerName(training.run) + " is mostly used with");
}

/// Adam and its kin make steps of their own size.
Sign LookOptimizerAdaptive(const Training& training) {
  return AnswerSign(IsAdaptive(training.run), "optimizer",
                    OptimizerName(training.run) + " divides by the gradient's size");
}

/// Steps that could not change the weights, all taken in one direction, cannot have taught them.
Sign LookUpdatesSmall(const Training& training) {
  const Finding* small = training.run.FindFirst("update/ratio-too-small");
  if (small == nullptr) {
    return training.optimizer == nullptr ? NotSeenSign() : NoSign("updates are of ordinary size");
  }
  const double first = training.BasisNumber("first");
  const double ratio = small->Number("ratio").value_or(0);
  const double reach = small->Number("reach").value_or(1);
  const bool hardly_moved = ratio <= 1e-5 && training.learning.state != Learning::kUnknown &&
                            std::abs(first - training.BasisNumber("last")) < 0.05 * std::abs(first);
  // Of a loss that is seen to stay where it was, a twentieth tells as much as a hundredth where
  // noise hides it.
  const bool cannot_move =
      training.points >= 20 && training.not_seen_to_learn &&
      (training.learning.Bad() ? reach < 0.05 : reach < 0.01 && ratio <= 1e-5);
  // There is a slope, every step goes down it, and it takes them nowhere.
  const bool creeps = training.points >= 300 && training.not_seen_to_learn && reach < 0.05 &&
                      LookGradientsAgree(training).strength >= 2;
  if (!hardly_moved && !cannot_move && !creeps) {
    return NoSign("all steps together could change the weights by " + Percent(reach));
  }
  Sign sign = ByFinding(small, "tensor",
                        WithRate(training, "a step changed the weights by " + HumanNumber(ratio) +
                                               " of their size, all steps together by " +
                                               Percent(reach) + " at most"));
  if (const auto rate = LearningRate(training.run); rate && ratio > 0) {
    sign.facts.push_back(Number("rate", *rate));
    sign.facts.push_back(
        Number("rate_to_try", RoundFactor(*rate, std::min(0.001 / ratio, 100.0))));
  }
  return sign;
}

Sign LookWeightsMoved(const Training& training) {
  if (NothingMoved(training.run)) {
    return NoSign("no weight was ever changed");
  }
  return StepsMade(training.run) > 0 ? YesSign("tensor", "weights move") : NotSeenSign();
}

Sign LookWeightsVanished(const Training& training) {
  const Finding* vanished = training.run.FindFirst("weights/vanished");
  return ByFinding(vanished, "tensor",
                   vanished == nullptr
                       ? std::string()
                       : vanished->series + " shrank from " +
                             HumanNumber(vanished->Number("from").value_or(0)) + " to " +
                             HumanNumber(vanished->Number("to").value_or(0)) +
                             ", and most other weights too: something pulls them to zero");
}

Sign LookWeightsBeganOdd(const Training& training) {
  const Finding* odd = training.run.FindFirst("weights/initial-scale");
  return ByFinding(
      odd, "tensor",
      odd == nullptr ? std::string()
                     : odd->series + " began with weights of size " +
                           HumanNumber(odd->Number("rms").value_or(0)) + "; " +
                           HumanNumber(odd->Number("tensors").value_or(0)) + " of " +
                           HumanNumber(odd->Number("of").value_or(0)) +
                           " weight tensors are like that");
}

Sign LookMostWeightsBeganOdd(const Training& training) {
  const Finding* odd = training.run.FindFirst("weights/initial-scale");
  return ByFinding(odd != nullptr && odd->Number("of").value_or(0) >= 2 &&
                           2 * odd->Number("tensors").value_or(0) > odd->Number("of").value_or(0)
                       ? odd
                       : nullptr,
                   "tensor", "most weight tensors began at an odd size");
}

Sign LookWeightsBeganSmall(const Training& training) {
  constexpr double kSmall = 0.01;  // They have to grow before anything is learned.
  const Finding* odd = training.run.FindFirst("weights/initial-scale");
  return AnswerSign(odd != nullptr && odd->Number("rms").value_or(1) < kSmall, "tensor",
                    "weights began next to zero");
}

/// What a layer makes of a signal of size 1 is the root of the sum of its squared weights, for each
/// output: 0.58 with PyTorch's own initialisation, 1 to 1.4 with Xavier's and Kaiming's.
Sign LookLayerGainSmall(const Training& training) {
  constexpr double kGainMin = 0.25;
  constexpr double kLayersMin = 4;
  const Observation* gain = training.run.FindObservation("initial-gain");
  const auto gain_seen = As<seen::InitialGain>(gain);
  if (gain == nullptr) {
    return NotSeenSign();
  }
  const bool normalised = training.model != nullptr && !As<seen::Model>(*training.model).norms.value_or("").empty();
  return AnswerSign(!normalised && OrZero(gain_seen.matrices) >= kLayersMin &&
                        gain_seen.median.value_or(0) <= kGainMin && gain_seen.median.value_or(0) > 0,
                    "tensor",
                    "a layer began with a gain of " + HumanNumber(gain_seen.median.value_or(0), 2) +
                        ": the signal of the inputs is that much smaller behind each of " +
                        HumanNumber(OrZero(gain_seen.matrices)) + " layers");
}

Sign LookRowsIdentical(const Training& training) {
  const Observation* same = training.run.FindObservation("identical-rows");
  const auto same_seen = As<seen::IdenticalRows>(same);
  // A single table of scores has no unit that another one could be told from: each gets its own part of the gradient.
  const auto matrices = As<seen::Model>(training.model).matrices;
  if (same == nullptr || (matrices && *matrices <= 1)) {
    return NoSign();
  }
  if (same_seen.count == 0) {
    return NoSign("units that began alike are not alike any more " + same_seen.when.value_or(""));
  }
  Sign sign = YesSign("tensor", "all units of " + same_seen.names.value_or("") +
                                    " began with the same weights, so they get the same gradient "
                                    "for ever");
  sign.strength = OrZero(same_seen.count);
  sign.facts.push_back({.name = "names", .text = same_seen.names.value_or("")});
  return sign;
}

/// After a hundred steps with gradients nothing has told them apart: by mathematics nothing ever will, and a layer of so many units counts for one.
/// A task that one unit does is done all the same.
Sign LookRowsStayIdentical(const Training& training) {
  constexpr double kDone = 0.1;  // Of what guessing costs.
  for (const Observation* same : ObservationsOf(training.run, seen::IdenticalRows::kKind)) {
    const auto same_seen = As<seen::IdenticalRows>(*same);
    if (same_seen.when.value_or("").starts_with("after") && OrZero(same_seen.count) > 0 && !(training.share > 0 && training.share < kDone)) {
      return YesSign("tensor", "all units of " + same_seen.names.value_or("") + " are still alike " + same_seen.when.value_or("") +
                                   ": each of these layers does what a single unit can do");
    }
  }
  return NoSign();
}

/// One tensor may be meant so (a last layer that begins at zero).
Sign LookSeveralRowsIdentical(const Training& training) {
  const Observation* same = training.run.FindObservation("identical-rows");
  return AnswerSign(same != nullptr && OrZero(As<seen::IdenticalRows>(*same).count) >= 2, "tensor",
                    "several layers have units that are all alike");
}

}  // namespace whystop
