#include "detect/series_state.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace whystop {
namespace {

// A fall of a hundredth of the value is what people can see in a plot; below it a series "did not
// move".
constexpr double kSmallFall = 0.005;
constexpr double kPlainFall = 0.02;
// A run that gained less than this and then lay flat for most of its life "stalled" rather than
// "converged".
constexpr double kPoorFall = 0.05;
constexpr double kFlat = 0.03;
constexpr double kSureUnits = 4;
constexpr double kSureLevelUnits = 6;
constexpr std::int64_t kPointsOfLine = 100;
constexpr double kLn2 = std::numbers::ln2;

/// Few points, such as one an epoch: only a plain course counts.
std::string_view StateOfFew(const SeriesShape& shape) {
  const std::vector<double>& values = shape.levels;
  const std::size_t changes = values.size() - 1;
  std::size_t falls = 0;
  std::size_t rises = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    falls += values[i] < values[i - 1] ? 1 : 0;
    rises += values[i] > values[i - 1] ? 1 : 0;
  }
  const double relative = shape.Scale() > 0 ? shape.drop / shape.Scale() : 0;
  if (values.size() == 3) {
    return falls == 2 && relative > 0.1 ? "improving" : "too-short";
  }
  const bool falling =
      falls == changes || (falls + 1 == changes && shape.drop > kSureUnits * shape.noise);
  if (falling && relative > 0.03) {
    const double last_change = values[changes - 1] - values[changes];
    return last_change > 0.03 * shape.drop ? "improving" : "converged";
  }
  if (rises == changes && shape.end > shape.start + 3 * std::abs(shape.start)) {
    return "diverged";
  }
  return "too-short";
}

/// The fall from the first sixth of the levels to the last one. Scatter of the levels hides it less
/// than that of a single first point.
struct LevelFall {
  double from = 0;
  double by = 0;
};

LevelFall FallOfLevels(const SeriesShape& shape) {
  const std::size_t sixth = shape.levels.size() / 6;
  if (sixth < 2) {
    return {};
  }
  const auto mean = [](auto from, auto to) {
    double sum = 0;
    for (auto level = from; level != to; ++level) {
      sum += *level;
    }
    return sum / static_cast<double>(to - from);
  };
  const auto count = static_cast<std::ptrdiff_t>(sixth);
  const double early = mean(shape.levels.begin(), shape.levels.begin() + count);
  return {early, early - mean(shape.levels.end() - count, shape.levels.end())};
}

/// How far the end lies above the best stretch. The single best of many levels is lucky, and the last one may be unlucky.
double LostAgain(const SeriesShape& shape) {
  const auto size = static_cast<std::ptrdiff_t>(shape.levels.size() / 8);
  if (size < 2) {
    return shape.end - shape.best;
  }
  const auto mean = [size](auto from) { return std::accumulate(from, from + size, 0.0) / static_cast<double>(size); };
  double best = mean(shape.levels.begin());
  for (auto from = shape.levels.begin(); from + size <= shape.levels.end(); ++from) {
    best = std::min(best, mean(from));
  }
  return mean(shape.levels.end() - size) - best;
}

/// What a change is compared with. Where values lie below zero (a likelihood, a return) zero means
/// nothing, and the range of the levels stands for their size.
double SizeOf(const SeriesHistory& history, const SeriesShape& shape) {
  const double lowest = history.lower_is_better() ? shape.best : -shape.worst;
  const double range = shape.worst - shape.best;
  return lowest < 0 && range > 0 ? std::min(shape.Scale(), range) : shape.Scale();
}

/// A loss that runs to minus infinity, faster and faster, has no lower bound: it fits nothing.
bool RunsAwayDownwards(const SeriesShape& shape) {
  const std::size_t third = shape.levels.size() / 3;
  if (third == 0 || shape.end >= 0 || -shape.end < 1000 * std::max(1.0, std::abs(shape.start))) {
    return false;
  }
  const double early = shape.levels.front() - shape.levels[third];
  const double late = shape.levels[shape.levels.size() - 1 - third] - shape.levels.back();
  return late > 3 * std::abs(early) && shape.best_at > 0.9;
}

/// Every level of the last third is lower than every level of the first: sure even where one wild
/// point hides the noise.
bool EndLiesBelowStart(const SeriesShape& shape) {
  const auto third = static_cast<std::ptrdiff_t>(shape.levels.size() / 3);
  if (third < 3) {
    return false;
  }
  return *std::max_element(shape.levels.end() - third, shape.levels.end()) <
         *std::min_element(shape.levels.begin(), shape.levels.begin() + third);
}

bool Diverged(const SeriesShape& shape) {
  const std::size_t last = shape.levels.size() - 1;
  const double floor_at_end = std::min(shape.levels[last], shape.levels[last - 1]);
  // However it falls now: ten thousand times its first value is no place to be. (A loss that begins
  // near zero for want of anything to find may rise a thousandfold.)
  if (shape.first > 0 && floor_at_end > 1e4 * shape.first) {
    return true;
  }
  if (shape.still_falling || (shape.best_at > 0.9 && shape.end < shape.first)) {
    return false;
  }
  // Doubled, and not only in its last moment: schedules, queues that fill and annealed terms raise
  // a loss by less.
  const double rise = floor_at_end - shape.first;
  if (rise > std::abs(shape.first) && rise > 4 * shape.level_noise &&
      (rise > 5 * shape.noise_start || shape.start > 5 * std::abs(shape.first))) {
    return true;
  }
  const double gained = shape.start - shape.best;
  const bool had_learned = gained > 0.2 * std::abs(shape.start) && gained > 6 * shape.level_noise;
  return had_learned && floor_at_end > shape.start - 0.1 * gained;
}

/// More of the way lies before the first point than between it and the last: a resumed run, or the
/// end of a log. Where it began is not known.
bool StartIsUnseen(const SeriesHistory& history) {
  const auto late = [](double from, double to) { return from > 1 && from > to - from; };
  if (history.step_from() && history.step_to()) {
    return late(static_cast<double>(*history.step_from()), static_cast<double>(*history.step_to()));
  }
  return history.epoch_from() && history.epoch_to() &&
         late(*history.epoch_from(), *history.epoch_to());
}

}  // namespace

bool IsOneValue(const SeriesHistory& history) {
  constexpr std::int64_t kPointsMin = 5;
  constexpr double kDigits = 1e4;
  if (history.points() < kPointsMin || history.smallest_change() > 0) {
    return false;
  }
  // What is printed with few digits may stand still in print alone.
  const double shifted = std::abs(history.last()) * kDigits;
  return shifted > 0 && std::abs(shifted - std::round(shifted)) > 1e-6 * shifted;
}

std::string_view StateOf(const SeriesHistory& history, const SeriesShape& shape) {
  if (history.not_finite_at_end() > 0) {
    return "diverged";
  }
  if (IsOneValue(history)) {
    return "never-learned";
  }
  if (shape.points < 3) {
    return "too-short";
  }
  if (shape.points < 8) {
    return StateOfFew(shape);
  }
  if (RunsAwayDownwards(shape) || Diverged(shape)) {
    return "diverged";
  }
  const double scale = SizeOf(history, shape);
  double relative = scale > 0 ? shape.drop / scale : 0;
  // The noise of a point may be larger than the fall: a line through hundreds of them is sure.
  const bool falls_all_along = shape.points >= kPointsOfLine &&
                               shape.late_change < -kSureUnits * shape.late_change_error &&
                               -shape.late_change > kPoorFall * scale;
  const LevelFall fall = FallOfLevels(shape);
  const bool levels_fall = shape.points >= kPointsOfLine &&
                           fall.by > kSureLevelUnits * shape.level_noise && scale > 0;
  relative = levels_fall ? std::max(relative, fall.by / scale) : relative;
  const bool sure = shape.drop_in_noise_units > kSureUnits || falls_all_along || levels_fall ||
                    (relative > 0.2 && EndLiesBelowStart(shape));
  const double lost_again = LostAgain(shape);
  const bool fell_back =
      lost_again > 4 * shape.level_noise && lost_again > 0.3 * (shape.start - shape.best);
  // Most of the fall came after the first quarter: it is on its way, even if its last points are
  // bad ones.
  const bool falls_late = shape.late_change < -3 * shape.late_change_error &&
                          -shape.late_change > 0.5 * shape.drop && !fell_back;
  if (sure && relative > kPlainFall) {
    if (shape.still_falling || falls_late) {
      return "improving";
    }
    return fell_back || relative < kPoorFall ? "stalled" : "converged";
  }
  if (sure && shape.still_falling && relative > kSmallFall) {
    return "improving";
  }
  const bool pinned = std::abs(shape.end - kLn2) < 0.003 && std::abs(shape.worst - kLn2) < 0.01 &&
                      std::abs(shape.best - kLn2) < 0.01;
  if (pinned) {
    return "never-learned";  // Eight points or more at the loss of two equal odds.
  }
  const double gained = shape.start - shape.best;
  if (fell_back && lost_again > 0.5 * gained && gained > 0.2 * std::abs(shape.start) &&
      gained > 5 * shape.level_noise) {
    return "stalled";  // It had learned, and lost most of it again.
  }
  // Flat: only when a fall that matters would have been seen. The first quarter is left out of the
  // slope: a first point far out, or a quick small gain, is no learning either.
  const bool flat = std::abs(shape.late_change) + 2 * shape.late_change_error < kFlat * scale;
  if (shape.points >= 20 && flat && relative < kPoorFall) {
    return sure && relative > kPlainFall ? "stalled"
           : StartIsUnseen(history)      ? "start-unseen"
                                         : "never-learned";
  }
  return shape.points < 20 ? "too-short" : "unclear";
}

}  // namespace whystop
