#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/human.h"
#include "model/observations.h"
#include "sign/answers.h"
#include "sign/loss_calls.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

constexpr double kCallsMin = 10;
constexpr double kRounding = 1e-4;

/// Whether outputs were seen outside of what this activation gives: then it is not the last one,
/// though it was made last.
bool SeenBeyond(const std::vector<const Observation*>& calls, double low, double high) {
  return std::any_of(calls.begin(), calls.end(), [low, high](const Observation* call) {
    const auto call_seen = As<seen::LossCall>(call);
    return call_seen.input_min.value_or(low) < low - kRounding ||
           call_seen.input_max.value_or(high) > high + kRounding;
  });
}

bool AllBetweenZeroAndOne(const std::vector<const Observation*>& calls) {
  return std::all_of(calls.begin(), calls.end(), [](const Observation* call) {
    const auto call_seen = As<seen::LossCall>(call);
    return call_seen.input_min.value_or(-1) >= 0 &&
           call_seen.input_max.value_or(2) <= 1 && call_seen.input_nonfinite.value_or(0) == 0;
  });
}

/// The lower end, 0 or -1, of a range up to 1 that no output ever leaves though some lie at its very ends: something holds them there.
std::optional<double> HeldWithin(const std::vector<const Observation*>& calls) {
  constexpr std::size_t kSeenMin = 4;
  constexpr double kAtTheEnd = 0.01;  // Of the range.
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const Observation* call : calls) {
    const auto call_seen = As<seen::LossCall>(call);
    if (!call_seen.input_min || !call_seen.input_max) {
      return std::nullopt;
    }
    lowest = std::min(lowest, *call_seen.input_min);
    highest = std::max(highest, *call_seen.input_max);
  }
  for (const double low : {0.0, -1.0}) {
    const double end = kAtTheEnd * (1 - low);
    if (calls.size() >= kSeenMin && lowest >= low && lowest < low + end && highest <= 1 && highest > 1 - end) {
      return low;
    }
  }
  return std::nullopt;
}

/// Outputs that are never negative and often exactly zero: a rectifier, or a clamp, holds them.
bool HeldAtZero(const std::vector<const Observation*>& calls) {
  constexpr std::size_t kSeenMin = 4;
  const auto zeros = static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [](const Observation* call) {
    return As<seen::LossCall>(*call).input_min == 0;
  }));
  const bool none_below = std::all_of(calls.begin(), calls.end(), [](const Observation* call) {
    return As<seen::LossCall>(*call).input_min.value_or(-1) >= 0;
  });
  return none_below && zeros >= kSeenMin && 2 * zeros >= calls.size();
}

/// A good part of the targets, and not a stray one, lies below zero.
bool ManyTargetsBelowZero(const Observation& call) {
  const auto seen = As<seen::LossCall>(call);
  return seen.target_min.value_or(0) < 0 && seen.target_mean.value_or(1) < seen.target_std.value_or(0);
}

std::string Count(const std::vector<const Observation*>& calls) {
  return HumanNumber(static_cast<double>(calls.size()));
}

}  // namespace

/// What the loss was given last is not finite, whatever the loss made of it. A mask puts infinity in some places, never in most.
Sign LookOutputsNotFinite(const Training& training) {
  const auto calls = LossCalls(training.run, {"cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
                                              "binary_cross_entropy", "binary_cross_entropy_with_logits"});
  if (calls.empty()) {
    return NotSeenSign();
  }
  const auto last = As<seen::LossCall>(*calls.back());
  const double odd = OrZero(last.input_nonfinite);
  const bool most = odd > 0 && !last.input_mean;
  return AnswerSign(most, "loss-call", "none of the outputs that the loss was given at the end is a finite number (" +
                                           HumanNumber(odd) + " of them in a batch)");
}

Sign LookOutputsConstant(const Training& training) {
  // Also on held-out data: the few calls that are looked at may all be of validation.
  const auto calls = LossCalls(training.run,
                               {"cross_entropy", "nll_loss", "mse_loss", "rmse_loss", "l1_loss",
                                "smooth_l1_loss", "binary_cross_entropy",
                                "binary_cross_entropy_with_logits"},
                               Calls::kAll);
  if (calls.empty() || OrZero(As<seen::LossCall>(*calls.back()).call) < kCallsMin) {
    return NotSeenSign();
  }
  const Observation& last = *calls.back();
  const std::string spread = HumanNumber(SpreadOfAnswers(last).value_or(0)) + " at a size of " +
                             HumanNumber(OutputSize(last));
  return GivesOneAnswer(last, kOneAnswer) || GivesOneAnswerBesideTargets(last, kOneAnswer)
             ? YesSign("loss-call",
                       "the outputs are the same for every sample: they differ by " + spread)
             : NoSign("the outputs differ from sample to sample by " + spread);
}

/// The model does not look at its input: nothing that training did made it so.
Sign LookOutputsConstantFromStart(const Training& training) {
  return training.calls.empty()
             ? NotSeenSign()
             : AnswerSign(ConstantFromTheStart(training.run), "loss-call",
                          "the outputs were the same for every sample before the first step");
}

/// Where there is nothing to learn, outputs that differed may end as one, but not at once.
Sign LookOutputsEndedAsOne(const Training& training) {
  return AnswerSign(training.OneAnswer(), "loss-call",
                    training.calls.empty()
                        ? std::string()
                        : "the outputs differed by " +
                              HumanNumber(SpreadOfAnswers(*training.calls.front()).value_or(0)) +
                              " at first and ended as one, the best answer to such labels");
}

Sign LookOutputsWildAtFirst(const Training& training) {
  constexpr double kWild = 100;
  if (training.calls.empty() || OrZero(As<seen::LossCall>(*training.calls.front()).call) != 1) {
    return NotSeenSign();
  }
  return AnswerSign(OutputSize(*training.calls.front()) > kWild, "loss-call",
                    "the first outputs had a size of " +
                        HumanNumber(OutputSize(*training.calls.front())));
}

/// Each row sums to 1: the softmax was taken twice, and the loss has a floor far above zero.
Sign LookProbabilitiesAsLogits(const Training& training) {
  const auto calls = LossCalls(training.run, {"cross_entropy"});
  if (calls.size() < 2) {
    return NotSeenSign();
  }
  const bool all = std::all_of(calls.begin(), calls.end(), [](const Observation* call) {
    const auto call_seen = As<seen::LossCall>(call);
    return call_seen.sums_to_one.value_or(false) && OrZero(call_seen.classes) >= 2;
  });
  const double classes = OrZero(As<seen::LossCall>(*calls.back()).classes);
  return AnswerSign(all, "loss-call",
                    "cross_entropy was given probabilities in all " + Count(calls) +
                        " calls looked at: each row sums to 1. It applies softmax itself, so the "
                        "loss cannot fall below " +
                        HumanNumber(std::log(1 + (classes - 1) / std::exp(1.0))));
}

/// Between 0 and 1, and no probabilities: a sigmoid, or a softmax over the wrong dimension.
Sign LookSquashedAsLogits(const Training& training) {
  constexpr std::size_t kSeen = 3;
  const auto binary = LossCalls(training.run, {"binary_cross_entropy_with_logits"});
  // A single value between 0 and 1 for all samples is no range.
  if (binary.size() >= kSeen) {
    return AnswerSign(AllBetweenZeroAndOne(binary) && !GivesOneAnswer(*binary.back(), kOneAnswer),
                      "loss-call",
                      "binary_cross_entropy_with_logits was given values between 0 and 1 in all " +
                          Count(binary) + " calls looked at: it applies sigmoid itself");
  }
  const auto classes = LossCalls(training.run, {"cross_entropy"});
  if (classes.size() < kSeen) {
    return NotSeenSign();
  }
  return AnswerSign(AllBetweenZeroAndOne(classes) && !GivesOneAnswer(*classes.back(), kOneAnswer) &&
                        OrZero(As<seen::LossCall>(*classes.back()).classes) >= 2,
                    "loss-call",
                    "cross_entropy was given values between 0 and 1 in all " + Count(classes) +
                        " calls looked at: it takes raw outputs, and cannot get far from guessing "
                        "with these");
}

Sign LookNoLogarithmsForNll(const Training& training) {
  for (const Observation* call : LossCalls(training.run, {"nll_loss"})) {
    const auto call_seen = As<seen::LossCall>(call);
    if (call_seen.sums_to_one.value_or(false)) {
      return YesSign("loss-call",
                     "nll_loss was given probabilities; it takes their logarithms (log_softmax)");
    }
    if (call_seen.input_max.value_or(0) > kRounding) {
      return YesSign("loss-call", "nll_loss was given values up to " + HumanNumber(call_seen.input_max.value_or(0)) +
                                      "; it takes logarithms of probabilities (log_softmax), none of which is above 0, "
                                      "and has no lower end otherwise");
    }
  }
  return NoSign();
}

/// A single output has nothing to choose between.
Sign LookOneOutputForClasses(const Training& training) {
  for (const Observation* call : LossCalls(training.run, {"cross_entropy", "nll_loss"})) {
    const auto call_seen = As<seen::LossCall>(call);
    if (call_seen.classes == 1 && !MentionsAny(call_seen.target_dtype.value_or(""), {"float"})) {
      return YesSign("loss-call",
                     "cross-entropy over a single output is always 0: there is nothing to choose "
                     "between");
    }
  }
  const bool softmax = training.model != nullptr && As<seen::Model>(*training.model).last == "Softmax";
  for (const Observation* call :
       LossCalls(training.run, {"binary_cross_entropy", "binary_cross_entropy_with_logits",
                                "mse_loss", "l1_loss"})) {
    if (softmax && As<seen::LossCall>(*call).input_shape.value_or("").ends_with("x1")) {
      return YesSign("loss-call",
                     "the last layer is a softmax over a single output, which is 1 whatever the "
                     "input");
    }
  }
  return NoSign();
}

/// By the rows of the targets as a framework's loss got them.
Sign LookTargetRowsNoDistribution(const Training& training) {
  constexpr double kSumMargin = 0.05;
  for (const Observation* call : training.calls) {
    const auto call_seen = As<seen::LossCall>(call);
    const auto sum_min = call_seen.target_rows_sum_min;
    const auto sum_max = call_seen.target_rows_sum_max;
    if (sum_min && sum_max && (*sum_max > 1 + kSumMargin || *sum_max < 1 - kSumMargin)) {
      return YesSign("loss-call", call_seen.framework_function.value_or("") +
                                      " was given targets whose rows sum to " +
                                      HumanNumber(*sum_min) + " to " + HumanNumber(*sum_max) +
                                      "; each must be a distribution over the classes");
    }
  }
  return NoSign();
}

Sign LookLogitsAsProbabilities(const Training& training) {
  for (const Observation* call : training.calls) {
    const auto call_seen = As<seen::LossCall>(call);
    if (call_seen.expects == "probabilities" && call_seen.within_zero_to_one == false) {
      return YesSign("loss-call", call_seen.framework_function.value_or("") +
                                      " takes probabilities (from_logits is off) and was given "
                                      "raw outputs beyond 0 to 1");
    }
  }
  return NoSign();
}

Sign LookClassTargetsOutOfRange(const Training& training) {
  for (const Observation* call : LossCalls(
           training.run, {"binary_cross_entropy", "binary_cross_entropy_with_logits"})) {
    const auto call_seen = As<seen::LossCall>(call);
    if (call_seen.target_min.value_or(0) < 0 || call_seen.target_max.value_or(0) > 1) {
      return YesSign("loss-call", call_seen.function.value_or("") + " was given targets from " +
                                      HumanNumber(call_seen.target_min.value_or(0)) + " to " +
                                      HumanNumber(call_seen.target_max.value_or(0)) +
                                      "; they must lie between 0 and 1");
    }
  }
  // Shares of classes sum to 1, so that their mean is 1 over their number.
  constexpr double kAboveOne = 1.05;
  for (const Observation* call : LossCalls(training.run, {"cross_entropy"})) {
    const auto call_seen = As<seen::LossCall>(call);
    const double classes = OrZero(call_seen.classes);
    const double sum = call_seen.target_mean.value_or(0) * classes;
    if (classes >= 2 && MentionsAny(call_seen.target_dtype.value_or(""), {"float"}) &&
        call_seen.target_mean && sum > kAboveOne) {
      return YesSign("loss-call", "cross_entropy was given shares of classes that sum to " +
                                      HumanNumber(sum) + "; they must sum to 1");
    }
  }
  return NoSign();
}

/// Targets that the last activation cannot reach.
Sign LookTargetsOutOfReach(const Training& training) {
  const auto calls = RegressionCalls(training.run);
  if (training.model == nullptr || calls.empty()) {
    return NotSeenSign();
  }
  const Observation& call = *calls.front();
  const auto call_seen = As<seen::LossCall>(call);
  const std::string last = As<seen::Model>(*training.model).last.value_or("");
  const auto held = HeldWithin(calls);
  if (!held && HeldAtZero(calls) && ManyTargetsBelowZero(*calls.back())) {
    return YesSign("loss-call", "targets go from " + HumanNumber(call_seen.target_min.value_or(0)) + " to " +
                                    HumanNumber(call_seen.target_max.value_or(0)) + ", and no output of the " + Count(calls) +
                                    " calls looked at was below 0, where many stood exactly: they are cut off there");
  }
  const double low = held ? *held : last == "Tanh" ? -1 : 0;
  const bool bounded = held || last == "Sigmoid" || last == "Tanh" || last == "Softmax";
  // A single answer that does not stand at the end of the range is not held there by it.
  const double answer = As<seen::LossCall>(*calls.back()).input_mean.value_or(0);
  const bool one_answer =
      GivesOneAnswer(*calls.back(), kOneAnswer) && answer > low + 0.05 && answer < 0.95;
  if (one_answer || SeenBeyond(calls, low, bounded ? 1 : std::numeric_limits<double>::infinity())) {
    return NoSign();
  }
  const bool beyond = (bounded && call_seen.target_max.value_or(0) > 1.05) ||
                      ((bounded || last == "ReLU") && call_seen.target_min.value_or(0) < low - 0.05);
  const double reach = 0.5 * (1 - low);
  const bool far =
      call_seen.target_max.value_or(0) > 1 + reach || call_seen.target_min.value_or(0) < low - reach;
  return AnswerSign(beyond && (far || training.failed), "loss-call",
                    "targets go from " + HumanNumber(call_seen.target_min.value_or(0)) + " to " +
                        HumanNumber(call_seen.target_max.value_or(0)) + ", which " +
                        (held ? "the outputs, held between " + HumanNumber(low) + " and 1, never reach"
                              : "the last layer (" + last + ") cannot give"));
}

Sign LookTargetsBroadcast(const Training& training) {
  if (const Observation* table = training.run.FindObservation("broadcast-difference")) {
    const auto table_seen = As<seen::BroadcastDifference>(table);
    return YesSign("loss", "the loss subtracts targets from outputs of shape " +
                               table_seen.output_shape.value_or("") + " and gets a table of shape " +
                               table_seen.shape.value_or("") +
                               ": every output is compared with every target");
  }
  const auto calls = RegressionCalls(training.run);
  for (const Observation* call : calls) {
    const auto call_seen = As<seen::LossCall>(call);
    const std::string output = call_seen.input_shape.value_or("");
    const std::string target = call_seen.target_shape.value_or("");
    if (!output.empty() && !target.empty() && output != target && output != "scalar" &&
        target != "scalar") {
      return YesSign("loss-call", call_seen.function.value_or("") + " was given outputs of shape " +
                                      output + " and targets of shape " + target +
                                      ": every output is compared with every target");
    }
  }
  return calls.empty() ? NotSeenSign() : NoSign();
}

}  // namespace whystop
