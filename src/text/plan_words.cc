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

/// "Starting training for 150 epochs", "max: 36 epochs".
std::optional<double> EpochsInWords(std::string_view body) {
  const std::size_t at = body.find(" epochs");
  if (at == std::string_view::npos || at == 0 || !IsDigit(body[at - 1])) {
    return std::nullopt;
  }
  std::size_t start = at;
  while (start > 0 && IsDigit(body[start - 1])) {
    --start;
  }
  const std::string_view before = body.substr(0, start);
  if (!before.ends_with("for ") && !before.ends_with("max: ") && !before.ends_with("Epochs: ")) {
    return std::nullopt;
  }
  const std::optional<NumberToken> number = ReadNumber(body.substr(start));
  return number ? std::optional<double>(number->value) : std::nullopt;
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
  return plan;
}

bool MaySpeakOfPlan(std::string_view body, const MetricLine& line) {
  return body.find(" epochs") != std::string_view::npos ||
         std::any_of(line.values.begin(), line.values.end(), [](const MetricValue& value) {
           return std::find(kEpochKeys.begin(), kEpochKeys.end(), value.key) != kEpochKeys.end() ||
                  std::find(kStepKeys.begin(), kStepKeys.end(), value.key) != kStepKeys.end();
         });
}

}  // namespace whystop
