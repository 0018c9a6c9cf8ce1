#include "sign/regression_facts.h"

#include <cmath>
#include <string_view>

namespace whystop {
namespace {

constexpr double kCallsMin = 6;
// The mean distance of evenly spread values from their mean, in standard deviations: the most that
// is usual. Of a normal distribution it is 0.80.
constexpr double kMeanDistance = 0.87;
constexpr double kStepsMin = 50;
constexpr double kMissMin = 1.5;
constexpr double kMarginMax = 2;  // From batch to batch.

bool IsRegression(const Observation& seen) {
  const std::string* function = seen.Text("function");
  return seen.kind == "loss-call" && function != nullptr && seen.Number("target_mean") &&
         seen.Number("grad_enabled").value_or(1) != 0 &&
         (*function == "mse_loss" || *function == "rmse_loss" || *function == "l1_loss" || *function == "smooth_l1_loss" ||
          *function == "huber_loss");
}

const Observation* LastCall(const CaseFile& run) {
  const Observation* last = nullptr;
  for (const Observation& seen : run.observations) {
    last = IsRegression(seen) ? &seen : last;
  }
  return last;
}

const Observation* FirstCall(const CaseFile& run) {
  for (const Observation& seen : run.observations) {
    if (IsRegression(seen)) {
      return &seen;
    }
  }
  return nullptr;
}

/// The largest mean loss that outputs and targets of such a mean and spread can have.
double LossMax(const Observation& call) {
  const double apart =
      std::abs(call.Number("input_mean").value_or(0) - *call.Number("target_mean"));
  const double spread =
      call.Number("input_std").value_or(0) + call.Number("target_std").value_or(0);
  return *call.Text("function") == "mse_loss" ? apart * apart + spread * spread : apart + spread;
}

}  // namespace

std::optional<double> TargetVariance(const CaseFile& run) {
  double calls = 0;
  double sum = 0;
  double squares = 0;
  double optimizers = 0;
  for (const Observation& seen : run.observations) {
    optimizers += seen.kind == "optimizer" ? 1 : 0;
    if (IsRegression(seen)) {
      const double mean = *seen.Number("target_mean");
      const double spread = seen.Number("target_std").value_or(0);
      ++calls;
      sum += mean;
      squares += mean * mean + spread * spread;
    }
  }
  const double variance = calls > 0 ? squares / calls - sum * sum / (calls * calls) : 0;
  return calls >= kCallsMin && optimizers == 1 && variance > 0 ? std::optional(variance)
                                                               : std::nullopt;
}

std::optional<double> LossOfTheMean(const CaseFile& run, double first_loss, double last_loss) {
  const Observation* call = LastCall(run);
  const auto variance = TargetVariance(run);
  if (call == nullptr || !variance || first_loss > kMarginMax * LossMax(*FirstCall(run)) ||
      last_loss > kMarginMax * LossMax(*call)) {
    return std::nullopt;
  }
  const std::string& function = *call->Text("function");
  if (function == "mse_loss") {
    return *variance;
  }
  if (function == "rmse_loss") {
    return std::sqrt(*variance);
  }
  // Whatever their bends are: Huber's loss is at most half the squared error, the smooth one at
  // most the absolute error.
  return function == "huber_loss" ? *variance / 2 : kMeanDistance * std::sqrt(*variance);
}

bool MissesTheMean(const CaseFile& run) {
  const Observation* call = LastCall(run);
  const auto variance = TargetVariance(run);
  if (call == nullptr || !variance || call->Number("call").value_or(0) < kStepsMin ||
      !call->Number("input_mean")) {
    return false;
  }
  const double miss = std::abs(*call->Number("input_mean") - *call->Number("target_mean"));
  return miss > kMissMin * std::sqrt(*variance);
}

}  // namespace whystop
