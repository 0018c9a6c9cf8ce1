#include "text/plan_words.h"

#include <algorithm>
#include <array>

#include "text/number.h"

namespace whystop {
namespace {

constexpr std::array<std::string_view, 13> kEpochKeys = {
    "epochs",       "max_epochs", "num_epochs", "n_epochs",   "num_train_epochs",
    "total_epochs", "max_epoch",  "Num Epochs", "num epochs", "Total epochs",
    "n_epoch",      "nb_epoch",   "nepochs"};
constexpr std::array<std::string_view, 21> kStepKeys = {
    "max_steps",          "total_steps",
    "train_iters",        "max_iters",
    "max_iter",           "Total optimization steps",
    "num_training_steps", "max_train_steps",
    "total_iterations",   "iters",
    "num_iters",          "n_iters",
    "num_train_steps",    "total_iter",
    "max_update",         "num_timesteps",
    "max_timesteps",      "Total steps",
    "total steps",        "Total training steps",
    "Total iterations"};

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }

constexpr std::array<std::string_view, 4> kStepUnits = {" steps", " iterations", " batches", " updates"};

/// The number that stands before a unit, and the words before that; nullopt: there is none.
struct CountInWords {
  double count = 0;
  std::string_view before;
};

std::optional<CountInWords> CountOf(std::string_view body, std::string_view unit) {
  const std::size_t at = body.find(unit);
  if (at == std::string_view::npos || at == 0 || !IsDigit(body[at - 1])) {
    return std::nullopt;
  }
  std::size_t start = at;
  while (start > 0 && IsDigit(body[start - 1])) {
    --start;
  }
  const std::optional<NumberToken> number = ReadNumber(body.substr(start));
  return number ? std::optional<CountInWords>({number->value, body.substr(0, start)}) : std::nullopt;
}

/// "Starting training for 150 epochs", "max: 36 epochs".
std::optional<double> EpochsInWords(std::string_view body) {
  const auto found = CountOf(body, " epochs");
  const bool planned = found && (found->before.ends_with("for ") || found->before.ends_with("max: ") || found->before.ends_with("Epochs: "));
  return planned ? std::optional(found->count) : std::nullopt;
}

/// "Training model for 50000 batches". An evaluation is counted in the same words.
std::optional<std::int64_t> StepsInWords(std::string_view body) {
  for (const std::string_view unit : kStepUnits) {
    const auto found = CountOf(body, unit);
    if (found && found->before.ends_with("for ") && found->before.find("rain") != std::string_view::npos && found->count < 1e12) {
      return static_cast<std::int64_t>(found->count);
    }
  }
  return std::nullopt;
}

}  // namespace

PlanWords ReadPlanWords(std::string_view body, const MetricLine& line) {
  PlanWords plan;
  for (const MetricValue& value : line.values) {
    if (std::find(kEpochKeys.begin(), kEpochKeys.end(), value.key) != kEpochKeys.end()) {
      plan.epochs = value.value;
    }
    const bool steps = std::find(kStepKeys.begin(), kStepKeys.end(), value.key) != kStepKeys.end();
    if (steps && value.value > 0 && value.value < 1e12) {
      plan.steps = static_cast<std::int64_t>(value.value);
    }
  }
  if (!line.has_counter() && !plan.epochs) {
    plan.epochs = EpochsInWords(body);
  }
  if (!line.has_counter() && !plan.steps) {
    plan.steps = StepsInWords(body);
  }
  return plan;
}

bool MaySpeakOfPlan(std::string_view body, const MetricLine& line) {
  return body.find(" epochs") != std::string_view::npos ||
         std::any_of(kStepUnits.begin(), kStepUnits.end(),
                     [body](std::string_view unit) { return body.find(unit) != std::string_view::npos; }) ||
         std::any_of(line.values.begin(), line.values.end(), [](const MetricValue& value) {
           return std::find(kEpochKeys.begin(), kEpochKeys.end(), value.key) != kEpochKeys.end() ||
                  std::find(kStepKeys.begin(), kStepKeys.end(), value.key) != kStepKeys.end();
         });
}

}  // namespace whystop
