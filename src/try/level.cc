#include "try/level.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace whystop {
namespace {

constexpr std::size_t kPointsMin = 10;
constexpr std::size_t kParts = 5;

/// Loss and guess at the same steps, where the guess is known nearly always; else the plain loss.
struct Ratios {
  std::vector<double> values;
  std::vector<double> losses;
  bool of_guessing = false;
};

Ratios RatiosOf(const Trial& trial) {
  Ratios out;
  if (trial.task.size() >= kPointsMin && trial.guess.size() * 10 >= trial.task.size() * 9 &&
      trial.task.size() * 2 >= trial.loss.size()) {
    double sum = 0;
    for (const Point& point : trial.guess) {
      sum += point.value;
    }
    const double guess = sum / static_cast<double>(trial.guess.size());
    if (guess > 0 && std::isfinite(guess)) {
      for (const Point& point : trial.task) {
        out.values.push_back(point.value / guess);
        out.losses.push_back(point.value);
      }
      out.of_guessing = true;
      return out;
    }
  }
  for (const Point& point : trial.loss) {
    out.values.push_back(point.value);
    out.losses.push_back(point.value);
  }
  return out;
}

Level MeanOf(std::span<const double> values, std::span<const double> losses, bool of_guessing) {
  Level level;
  level.of_guessing = of_guessing;
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  double squares = 0;
  double loss = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    level.finite = level.finite && std::isfinite(values[i]);
    sum += values[i];
    squares += values[i] * values[i];
    loss += losses[i];
  }
  level.value = sum / count;
  level.loss = loss / count;
  const double variance = std::max(0.0, squares / count - level.value * level.value);
  level.error = std::sqrt(variance / count);
  return level;
}

std::size_t WindowOf(std::size_t count) {
  return std::min(count, std::max(kPointsMin, count / kParts));
}

std::optional<Level> Lowest(const Ratios& ratios) {
  const std::size_t window = WindowOf(ratios.values.size());
  std::optional<Level> best;
  const std::size_t stride = std::max<std::size_t>(1, window / 2);
  for (std::size_t end = ratios.values.size(); end >= window && window > 0;
       end = end > stride ? end - stride : 0) {
    const Level level = MeanOf(std::span(ratios.values).subspan(end - window, window),
                               std::span(ratios.losses).subspan(end - window, window),
                               ratios.of_guessing);
    if (level.finite && (!best || level.value < best->value)) {
      best = level;
    }
  }
  return best;
}

Level LastOf(const Ratios& ratios) {
  const std::size_t window = WindowOf(ratios.values.size());
  return MeanOf(std::span(ratios.values).last(window), std::span(ratios.losses).last(window),
                ratios.of_guessing);
}

Level FirstOf(const Ratios& ratios) {
  const std::size_t window = std::max<std::size_t>(3, ratios.values.size() / 10);
  return MeanOf(std::span(ratios.values).first(window), std::span(ratios.losses).first(window),
                ratios.of_guessing);
}

Ratios HeldRatios(const Trial& trial) {
  Ratios ratios;
  ratios.of_guessing = true;
  for (const Point& point : trial.held) {
    ratios.values.push_back(point.value);
    ratios.losses.push_back(point.value);
  }
  return ratios;
}

}  // namespace

std::optional<Level> EndLevel(const Trial& trial) {
  const Ratios ratios = RatiosOf(trial);
  return ratios.values.size() < kPointsMin ? std::nullopt : std::optional(LastOf(ratios));
}

std::optional<Level> StartLevel(const Trial& trial) {
  const Ratios ratios = RatiosOf(trial);
  return ratios.values.size() < kPointsMin ? std::nullopt : std::optional(FirstOf(ratios));
}

std::optional<Level> LowestLevel(const Trial& trial) {
  const Ratios ratios = RatiosOf(trial);
  return ratios.values.size() < kPointsMin ? std::nullopt : Lowest(ratios);
}

std::optional<Level> LowestHeld(const Trial& trial) {
  const Ratios ratios = HeldRatios(trial);
  return ratios.values.size() < kPointsMin ? std::nullopt : Lowest(ratios);
}

std::optional<Level> StartHeld(const Trial& trial) {
  const Ratios ratios = HeldRatios(trial);
  return ratios.values.size() < kPointsMin ? std::nullopt : std::optional(FirstOf(ratios));
}

std::optional<Level> EndHeld(const Trial& trial) {
  const Ratios ratios = HeldRatios(trial);
  return ratios.values.size() < kPointsMin ? std::nullopt : std::optional(LastOf(ratios));
}

std::optional<std::int64_t> FirstStepBelow(const Trial& trial, double value) {
  const Ratios ratios = RatiosOf(trial);
  const std::size_t window = std::max<std::size_t>(3, ratios.values.size() / 10);
  for (std::size_t end = window; end <= ratios.values.size(); ++end) {
    const Level level = MeanOf(std::span(ratios.values).subspan(end - window, window),
                               std::span(ratios.losses).subspan(end - window, window),
                               ratios.of_guessing);
    if (level.finite && level.value < value) {
      const double share = static_cast<double>(end) / static_cast<double>(ratios.values.size());
      return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(trial.steps())));
    }
  }
  return std::nullopt;
}

}  // namespace whystop
