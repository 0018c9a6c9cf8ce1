#include "sign/target_mean.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/observations.h"
#include "sign/observed.h"

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
  if (seen.kind != seen::LossCall::kKind) {
    return false;
  }
  const auto call = As<seen::LossCall>(seen);
  return call.target_mean && call.grad_enabled.value_or(true) &&
         (call.function == "mse_loss" || call.function == "rmse_loss" || call.function == "l1_loss" ||
          call.function == "smooth_l1_loss" || call.function == "huber_loss");
}

const Observation* LastCall(const CaseFile& run) {
  const Observation* last = nullptr;
  for (const Observation& seen : run.observations) {
    last = IsRegression(seen) ? &seen : last;
  }
  return last;
}

/// The largest mean loss that outputs and targets of such a mean and spread can have.
double LossMax(const Observation& call) {
  const auto call_seen = As<seen::LossCall>(call);
  const double apart =
      std::abs(call_seen.input_mean.value_or(0) - *call_seen.target_mean);
  const double spread =
      call_seen.input_std.value_or(0) + call_seen.target_std.value_or(0);
  return *call_seen.function == "mse_loss" ? apart * apart + spread * spread : apart + spread;
}

/// Of the first calls: the first steps may throw the outputs far from where they began.
double FirstLossMax(const CaseFile& run) {
  constexpr double kFirstCalls = 10;
  double highest = 0;
  for (const Observation& seen : run.observations) {
    const bool first = highest == 0 || OrZero(As<seen::LossCall>(seen).call) <= kFirstCalls;
    highest = IsRegression(seen) && first ? std::max(highest, LossMax(seen)) : highest;
  }
  return highest;
}

/// What regularizers add to the loss, as first and as last seen.
std::pair<double, double> Penalties(const CaseFile& run) {
  std::optional<double> first;
  double last = 0;
  for (const Observation& seen : run.observations) {
    if (seen.kind == "penalty") {
      last = As<seen::Penalty>(seen).value.value_or(0);
      first = first ? first : last;
    }
  }
  return {first.value_or(0), last};
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
      const auto call = As<seen::LossCall>(seen);
      const double mean = *call.target_mean;
      const double spread = call.target_std.value_or(0);
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
  const auto [first_penalty, last_penalty] = Penalties(run);
  if (call == nullptr || !variance ||
      first_loss - first_penalty > kMarginMax * FirstLossMax(run) ||
      last_loss - last_penalty > kMarginMax * LossMax(*call)) {
    return std::nullopt;
  }
  const std::string function = *As<seen::LossCall>(*call).function;
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

bool CostOfTheMeanIsABound(const CaseFile& run) {
  const Observation* call = LastCall(run);
  const std::string function = call == nullptr ? std::string() : As<seen::LossCall>(*call).function.value_or("");
  return function == "huber_loss" || function == "smooth_l1_loss";
}

bool MissesTheMean(const CaseFile& run) {
  const Observation* call = LastCall(run);
  const auto call_seen = As<seen::LossCall>(call);
  const auto variance = TargetVariance(run);
  if (call == nullptr || !variance || OrZero(call_seen.call) < kStepsMin ||
      !call_seen.input_mean) {
    return false;
  }
  const double miss = std::abs(*call_seen.input_mean - *call_seen.target_mean);
  return miss > kMissMin * std::sqrt(*variance);
}

}  // namespace whystop
