#include <algorithm>
#include <limits>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

void WeighClassLosses(const CaseFile& run, Hypothesis& out) {
  for (const Observation* call : LossCalls(run, {"nll_loss"})) {
    if (NumberOf(*call, "sums_to_one") > 0) {
      out.Add(
          Decisive("loss-call",
                   "nll_loss was given probabilities; it takes their logarithms (log_softmax)"));
      return;
    }
  }
  for (const Observation* call : LossCalls(run, {"cross_entropy", "nll_loss"})) {
    const bool class_numbers = !MentionsAny(TextOf(*call, "target_dtype"), {"float"});
    if (call->Number("classes") == 1.0 && class_numbers) {
      out.Add(Decisive(
          "loss-call",
          "cross-entropy over a single output is always 0: there is nothing to choose between"));
      return;
    }
  }
  const Observation* model = run.FindObservation("model");
  const bool softmax = model != nullptr && TextOf(*model, "last") == "Softmax";
  for (const Observation* call :
       LossCalls(run, {"binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss",
                       "l1_loss"})) {
    const bool binary = TextOf(*call, "function").starts_with("binary");
    if (softmax && TextOf(*call, "input_shape").ends_with("x1")) {
      out.Add(Decisive(
          "loss-call",
          "the last layer is a softmax over a single output, which is 1 whatever the input"));
      return;
    }
    if (binary && (NumberOf(*call, "target_min") < 0 || NumberOf(*call, "target_max") > 1)) {
      out.Add(Decisive("loss-call", TextOf(*call, "function") + " was given targets from " +
                                        HumanNumber(NumberOf(*call, "target_min")) + " to " +
                                        HumanNumber(NumberOf(*call, "target_max")) +
                                        "; they must lie between 0 and 1"));
      return;
    }
  }
}

constexpr double kRounding = 1e-4;

/// What the framework's loss takes, against what it was given.
void WeighExpectations(const CaseFile& run, Hypothesis& out) {
  constexpr double kSumMargin = 0.05;
  for (const Observation* call : ObservationsOf(run, "loss-call")) {
    const std::string function = TextOf(*call, "framework_function");
    const auto sum_min = call->Number("target_rows_sum_min");
    const auto sum_max = call->Number("target_rows_sum_max");
    if (sum_min && sum_max && (*sum_max > 1 + kSumMargin || *sum_max < 1 - kSumMargin)) {
      out.Add(Decisive("loss-call", function + " was given targets whose rows sum to " +
                                        HumanNumber(*sum_min) + " to " + HumanNumber(*sum_max) +
                                        "; each must be a distribution over the classes"));
      out.Fix("one-hot rows or probabilities for one class a sample; for several classes at once "
              "sigmoid outputs with binary_crossentropy");
      return;
    }
    if (TextOf(*call, "expects") == "probabilities" && call->Number("within_zero_to_one") == 0.0) {
      out.Add(Decisive("loss-call", function + " takes probabilities (from_logits is off) and was "
                                               "given raw outputs beyond 0 to 1"));
      out.Fix("end the model with a softmax (classes) or sigmoid (yes or no), or pass "
              "from_logits=True to the loss");
      return;
    }
  }
}

/// Whether outputs were seen outside of what this activation gives: then it is not the last one,
/// though it was made last.
bool SeenBeyond(const std::vector<const Observation*>& calls, double low, double high) {
  return std::any_of(calls.begin(), calls.end(), [low, high](const Observation* call) {
    return call->Number("input_min").value_or(low) < low - kRounding ||
           call->Number("input_max").value_or(high) > high + kRounding;
  });
}

/// Targets that the last activation cannot reach.
void WeighRanges(const CaseFile& run, Hypothesis& out) {
  const Observation* model = run.FindObservation("model");
  const auto calls = LossCalls(run, {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"});
  if (model == nullptr || calls.empty()) {
    return;
  }
  const Observation& call = *calls.front();
  const std::string last = TextOf(*model, "last");
  const double low = last == "Tanh" ? -1 : 0;
  const bool bounded = last == "Sigmoid" || last == "Tanh" || last == "Softmax";
  // A single answer that does not stand at the end of the range is not held there by it.
  const double answer = NumberOf(*calls.back(), "input_mean");
  const bool one_answer =
      GivesOneAnswer(*calls.back(), 1e-3) && answer > low + 0.05 && answer < 0.95;
  if (one_answer || SeenBeyond(calls, low, bounded ? 1 : std::numeric_limits<double>::infinity())) {
    return;
  }
  const bool beyond = (bounded && NumberOf(call, "target_max") > 1.05) ||
                      ((bounded || last == "ReLU") && NumberOf(call, "target_min") < low - 0.05);
  const double reach = 0.5 * (1 - low);
  const bool far =
      NumberOf(call, "target_max") > 1 + reach || NumberOf(call, "target_min") < low - reach;
  if (beyond && (far || LearningFailed(run))) {
    out.Add(Decisive("loss-call", "targets go from " + HumanNumber(NumberOf(call, "target_min")) +
                                      " to " + HumanNumber(NumberOf(call, "target_max")) +
                                      ", which the last layer (" + last + ") cannot give"));
  }
}

}  // namespace

void WeighWrongLossActivation(const CaseFile& run, Hypothesis& out) {
  if (NothingMoved(run)) {
    return;
  }
  WeighClassLosses(run, out);
  WeighExpectations(run, out);
  WeighRanges(run, out);
  const LearningView learning = LearningOf(run);
  const double last = learning.basis == nullptr ? 0 : learning.basis->Number("last").value_or(0);
  const double best = learning.basis == nullptr ? 0 : learning.basis->Number("best").value_or(0);
  // To its lowest value, that is; the loss of a policy goes up and down about zero.
  const bool ran_down = learning.state == Learning::kDiverged && learning.basis != nullptr &&
                        LossLost(run) == nullptr && last < 0 && last < 0.9 * best;
  if (ran_down && out.evidence().empty()) {
    out.Add(
        Supports("series",
                 learning.text +
                     ": a loss with no lower end, such as cross-entropy with labels outside 0 to 1",
                 learning.basis->facts));
  }
}

}  // namespace whystop
