#include "try/pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace whystop {
namespace {

constexpr double kErrors = 2.0;
// Between the middle of the first tenth and that of the last fifth.
constexpr double kSpan = 0.85;
constexpr double kLearnsByNow = 0.8;   // Of guessing: no longer near it.
constexpr double kFellBy = 0.9;        // Of the untouched level, at most.
constexpr double kGetsOn = 0.9;        // Of guessing, on samples held out.
constexpr double kHeldWellBelow = 0.75;  // Of the untouched level, where the program learns.

double StepsOfRun(const TryCase& asked, const Trial& as_is) {
  return static_cast<double>(std::max({asked.steps, as_is.steps(), std::int64_t{1}}));
}

/// A failing program that no longer does: it needs not come as far as a cure, for it is the same program.
bool GotAway(const Comparison& runs, const Trial& stretch) {
  const auto level = EndLevel(stretch);
  const auto before = runs.reference();
  if (!level || !before || !level->finite || !level->of_guessing || !before->of_guessing) {
    return runs.Cures(stretch);
  }
  const double margin = 3 * std::hypot(level->error, before->error, runs.spread());
  return level->value < kLearnsByNow && level->value < kFellBy * before->value &&
         level->value < before->value - margin;
}

}  // namespace

std::string StretchSpec(int number) {
  return number == 1 ? "continue hold-out" : fmt::format("continue={} hold-out", number);
}

std::optional<double> TimesByPace(const TryCase& asked, const Comparison& runs) {
  const Trial* last = runs.as_is();
  double done = last == nullptr ? 0 : static_cast<double>(last->steps());
  for (int number = 1; last != nullptr && number <= kStretches; ++number) {
    const Trial* next = runs.Find(StretchSpec(number));
    if (next == nullptr || next->applied <= 0 || !EndLevel(*next)) {
      break;
    }
    last = next;
    done += static_cast<double>(next->steps());
  }
  const auto start = last == nullptr ? std::nullopt : StartLevel(*last);
  const auto end = last == nullptr ? std::nullopt : EndLevel(*last);
  if (!start || !end || !start->finite || !end->finite) {
    return std::nullopt;
  }
  const double error = std::hypot(start->error, end->error);
  const double fall = (start->value - end->value + kErrors * error) / kSpan;
  const double missing = std::max(0.0, end->value - runs.Goal());
  if (fall <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  const double steps = done + missing / fall * static_cast<double>(last->steps());
  return steps / StepsOfRun(asked, *runs.as_is());
}

std::optional<double> TimesByRate(const TryCase& asked, const Comparison& runs, const Trial& quicker,
                                  double factor) {
  const auto step = FirstStepBelow(quicker, runs.Goal());
  if (!step || runs.as_is() == nullptr) {
    return std::nullopt;
  }
  return factor * static_cast<double>(*step) / StepsOfRun(asked, *runs.as_is());
}

bool MadeAllSteps(const TryCase& asked, const Trial& as_is) {
  return as_is.steps() * 10 >= asked.steps * 9;
}

const Trial* StretchThatLearned(const TryCase& asked, const Comparison& runs) {
  if (runs.as_is() == nullptr || !MadeAllSteps(asked, *runs.as_is())) {
    return nullptr;
  }
  for (int number = 1; number <= kStretches; ++number) {
    const Trial* stretch = runs.Find(StretchSpec(number));
    const auto held = stretch == nullptr ? std::nullopt : EndHeld(*stretch);
    if (held && (runs.failing() ? GotAway(runs, *stretch) && held->value < kLearnsByNow
                                : runs.Cures(*stretch) &&
                                      held->value < kHeldWellBelow * runs.reference()->value)) {
      return stretch;
    }
  }
  return nullptr;
}

bool GetsOnByItself(const Comparison& runs) {
  for (int number = 1; number <= kStretches; ++number) {
    const Trial* stretch = runs.Find(StretchSpec(number));
    const auto held = stretch == nullptr ? std::nullopt : EndHeld(*stretch);
    if (held && held->value < kGetsOn) {
      return true;
    }
  }
  return false;
}

}  // namespace whystop
