#include <algorithm>
#include <cmath>
#include <limits>

#include "base/human.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/training_facts.h"

namespace whystop {
namespace {

constexpr double kCallsMin = 10;
constexpr double kRounding = 1e-4;

/// Whether outputs were seen outside of what this activation gives: then it is not the last one,
/// though it was made last.
bool SeenBeyond(const std::vector<const Observation*>& calls, double low, double high) {
  return std::any_of(calls.begin(), calls.end(), [low, high](const Observation* call) {
    return call->Number("input_min").value_or(low) < low - kRounding ||
           call->Number("input_max").value_or(high) > high + kRounding;
  });
}

bool AllBetweenZeroAndOne(const std::vector<const Observation*>& calls) {
  return std::all_of(calls.begin(), calls.end(), [](const Observation* call) {
    return call->Number("input_min").value_or(-1) >= 0 &&
           call->Number("input_max").value_or(2) <= 1 && NumberOf(*call, "input_nonfinite") == 0;
  });
}

std::string Count(const std::vector<const Observation*>& calls) {
  return HumanNumber(static_cast<double>(calls.size()));
}

}  // namespace

Sign LookOutputsConstant(const Training& training) {
  // Also on held-out data: the few calls that are looked at may all be of validation.
  const auto calls = LossCalls(training.run,
                               {"cross_entropy", "nll_loss", "mse_loss", "rmse_loss", "l1_loss",
                                "smooth_l1_loss", "binary_cross_entropy",
                                "binary_cross_entropy_with_logits"},
                               Calls::kAll);
  if (calls.empty() || NumberOf(*calls.back(), "call") < kCallsMin) {
    return NotSeenSign();
  }
  const Observation& last = *calls.back();
  const std::string spread = HumanNumber(NumberOf(last, "rows_std_mean")) + " at a size of " +
                             HumanNumber(OutputSize(last));
  return GivesOneAnswer(last, kOneAnswer)
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
                              HumanNumber(NumberOf(*training.calls.front(), "rows_std_mean")) +
                              " at first and ended as one, the best answer to such labels");
}

Sign LookOutputsWildAtFirst(const Training& training) {
  constexpr double kWild = 100;
  if (training.calls.empty() || NumberOf(*training.calls.front(), "call") != 1) {
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
    return NumberOf(*call, "sums_to_one") > 0 && NumberOf(*call, "classes") >= 2;
  });
  const double classes = NumberOf(*calls.back(), "classes");
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
                        NumberOf(*classes.back(), "classes") >= 2,
                    "loss-call",
                    "cross_entropy was given values between 0 and 1 in all " + Count(classes) +
                        " calls looked at: it takes raw outputs, and cannot get far from guessing "
                        "with these");
}

Sign LookNoLogarithmsForNll(const Training& training) {
  for (const Observation* call : LossCalls(training.run, {"nll_loss"})) {
    if (NumberOf(*call, "sums_to_one") > 0) {
      return YesSign("loss-call",
                     "nll_loss was given probabilities; it takes their logarithms (log_softmax)");
    }
    if (NumberOf(*call, "input_max") > kRounding) {
      return YesSign("loss-call", "nll_loss was given values up to " + HumanNumber(NumberOf(*call, "input_max")) +
                                      "; it takes logarithms of probabilities (log_softmax), none of which is above 0, "
                                      "and has no lower end otherwise");
    }
  }
  return NoSign();
}

/// A single output has nothing to choose between.
Sign LookOneOutputForClasses(const Training& training) {
  for (const Observation* call : LossCalls(training.run, {"cross_entropy", "nll_loss"})) {
    if (call->Number("classes") == 1.0 && !MentionsAny(TextOf(*call, "target_dtype"), {"float"})) {
      return YesSign("loss-call",
                     "cross-entropy over a single output is always 0: there is nothing to choose "
                     "between");
    }
  }
  const bool softmax = training.model != nullptr && TextOf(*training.model, "last") == "Softmax";
  for (const Observation* call :
       LossCalls(training.run, {"binary_cross_entropy", "binary_cross_entropy_with_logits",
                                "mse_loss", "l1_loss"})) {
    if (softmax && TextOf(*call, "input_shape").ends_with("x1")) {
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
    const auto sum_min = call->Number("target_rows_sum_min");
    const auto sum_max = call->Number("target_rows_sum_max");
    if (sum_min && sum_max && (*sum_max > 1 + kSumMargin || *sum_max < 1 - kSumMargin)) {
      return YesSign("loss-call", TextOf(*call, "framework_function") +
                                      " was given targets whose rows sum to " +
                                      HumanNumber(*sum_min) + " to " + HumanNumber(*sum_max) +
                                      "; each must be a distribution over the classes");
    }
  }
  return NoSign();
}

Sign LookLogitsAsProbabilities(const Training& training) {
  for (const Observation* call : training.calls) {
    if (TextOf(*call, "expects") == "probabilities" && call->Number("within_zero_to_one") == 0.0) {
      return YesSign("loss-call", TextOf(*call, "framework_function") +
                                      " takes probabilities (from_logits is off) and was given "
                                      "raw outputs beyond 0 to 1");
    }
  }
  return NoSign();
}

Sign LookClassTargetsOutOfRange(const Training& training) {
  for (const Observation* call : LossCalls(
           training.run, {"binary_cross_entropy", "binary_cross_entropy_with_logits"})) {
    if (NumberOf(*call, "target_min") < 0 || NumberOf(*call, "target_max") > 1) {
      return YesSign("loss-call", TextOf(*call, "function") + " was given targets from " +
                                      HumanNumber(NumberOf(*call, "target_min")) + " to " +
                                      HumanNumber(NumberOf(*call, "target_max")) +
                                      "; they must lie between 0 and 1");
    }
  }
  // Shares of classes sum to 1, so that their mean is 1 over their number.
  constexpr double kAboveOne = 1.05;
  for (const Observation* call : LossCalls(training.run, {"cross_entropy"})) {
    const double classes = NumberOf(*call, "classes");
    const double sum = NumberOf(*call, "target_mean") * classes;
    if (classes >= 2 && MentionsAny(TextOf(*call, "target_dtype"), {"float"}) &&
        call->Number("target_mean") && sum > kAboveOne) {
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
  const std::string last = TextOf(*training.model, "last");
  const double low = last == "Tanh" ? -1 : 0;
  const bool bounded = last == "Sigmoid" || last == "Tanh" || last == "Softmax";
  // A single answer that does not stand at the end of the range is not held there by it.
  const double answer = NumberOf(*calls.back(), "input_mean");
  const bool one_answer =
      GivesOneAnswer(*calls.back(), kOneAnswer) && answer > low + 0.05 && answer < 0.95;
  if (one_answer || SeenBeyond(calls, low, bounded ? 1 : std::numeric_limits<double>::infinity())) {
    return NoSign();
  }
  const bool beyond = (bounded && NumberOf(call, "target_max") > 1.05) ||
                      ((bounded || last == "ReLU") && NumberOf(call, "target_min") < low - 0.05);
  const double reach = 0.5 * (1 - low);
  const bool far =
      NumberOf(call, "target_max") > 1 + reach || NumberOf(call, "target_min") < low - reach;
  return AnswerSign(beyond && (far || training.failed), "loss-call",
                    "targets go from " + HumanNumber(NumberOf(call, "target_min")) + " to " +
                        HumanNumber(NumberOf(call, "target_max")) + ", which the last layer (" +
                        last + ") cannot give");
}

Sign LookTargetsBroadcast(const Training& training) {
  if (const Observation* table = training.run.FindObservation("broadcast-difference")) {
    return YesSign("loss", "the loss subtracts targets from outputs of shape " +
                               TextOf(*table, "output_shape") + " and gets a table of shape " +
                               TextOf(*table, "shape") +
                               ": every output is compared with every target");
  }
  const auto calls = RegressionCalls(training.run);
  for (const Observation* call : calls) {
    const std::string output = TextOf(*call, "input_shape");
    const std::string target = TextOf(*call, "target_shape");
    if (!output.empty() && !target.empty() && output != target && output != "scalar" &&
        target != "scalar") {
      return YesSign("loss-call", TextOf(*call, "function") + " was given outputs of shape " +
                                      output + " and targets of shape " + target +
                                      ": every output is compared with every target");
    }
  }
  return calls.empty() ? NotSeenSign() : NoSign();
}

}  // namespace whystop
