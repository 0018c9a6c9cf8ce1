#include "sign/loss_calls.h"

#include <algorithm>
#include <cmath>

#include "model/observations.h"
#include "sign/observed.h"

namespace whystop {

std::vector<const Observation*> LossCalls(const CaseFile& run,
                                          std::initializer_list<std::string_view> functions,
                                          Calls which) {
  std::vector<const Observation*> found;
  for (const Observation* call : ObservationsOf(run, "loss-call")) {
    const auto call_seen = As<seen::LossCall>(call);
    const bool wanted =
        std::find(functions.begin(), functions.end(), call_seen.function.value_or("")) != functions.end();
    if (wanted && (which == Calls::kAll || call_seen.grad_enabled.value_or(true))) {
      found.push_back(call);
    }
  }
  return found;
}

std::vector<const Observation*> RegressionCalls(const CaseFile& run) {
  return LossCalls(run, {"mse_loss", "rmse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"});
}

std::optional<double> RegressionTargetSize(const CaseFile& run) {
  const auto calls = RegressionCalls(run);
  if (calls.empty()) {
    return std::nullopt;
  }
  const auto first = As<seen::LossCall>(*calls.front());
  return first.target_std
             ? std::optional(std::hypot(first.target_mean.value_or(0), *first.target_std))
             : std::nullopt;
}

bool CanBeTheMeanOverSamples(const CaseFile& run, double first_loss) {
  constexpr double kBatchToBatch = 1.2;
  const auto calls = LossCalls(run, {"cross_entropy", "nll_loss", "binary_cross_entropy_with_logits"});
  if (calls.empty()) {
    return false;
  }
  const auto call = As<seen::LossCall>(*calls.front());
  const double spread = 3 * call.input_std.value_or(0);
  const double low = call.input_min.value_or(call.input_mean.value_or(0) - spread);
  const double high = call.input_max.value_or(call.input_mean.value_or(0) + spread);
  const bool by_two = call.function == "binary_cross_entropy_with_logits";
  const double classes = by_two ? 2 : std::max<double>(2, static_cast<double>(call.classes.value_or(2)));
  const double most = (by_two ? std::max(std::abs(low), std::abs(high)) : high - low) + std::log(classes);
  return first_loss <= kBatchToBatch * most;
}

/// `loss += criterion(...)` over the parts of a sequence: what goes backwards begins at as many times guessing as there were calls.
bool IsSumOfCalls(const CaseFile& run, const Finding& loss, double guess) {
  constexpr double kSeveral = 1.5;
  constexpr double kFits = 0.3;  // Of the sum: a start is not at guessing to the digit.
  const auto counts = CountsOf(run);
  const double calls = OrZero(counts.loss_calls) / std::max(1.0, OrZero(counts.backwards));
  const double start = loss.Number("begin").value_or(0);
  return calls >= kSeveral && start > kSeveral * guess && std::abs(start / (calls * guess) - 1) < kFits;
}

bool IsComparable(const CaseFile& run, const Finding& loss, double guess) {
  if (IsSumOfCalls(run, loss, guess)) {
    return false;
  }
  constexpr double kTimes = 5;
  constexpr double kNotDivided = 3;  // A sum over the batch that began so high was not divided by its size later.
  const auto calls = ObservationsOf(run, "loss-call");
  const bool summed = !calls.empty() && As<seen::LossCall>(*calls.back()).summed.value_or(false);
  if (summed && loss.Number("begin").value_or(0) > kNotDivided * guess) {
    return false;
  }
  const double lowest = std::min(loss.Number("begin").value_or(0), loss.Number("last").value_or(0));
  return lowest < kTimes * guess || CanBeTheMeanOverSamples(run, loss.Number("first").value_or(0));
}

}  // namespace whystop
