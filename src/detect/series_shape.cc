#include "detect/series_shape.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace whystop {
namespace {

constexpr std::int64_t kLevelsMax = 24;
constexpr std::size_t kLevelsForNoise = 8;
// For normal noise: the median of |x| is 0.6745 sigma, its mean 0.7979 sigma; x[i-2] - 2 x[i-1] +
// x[i] has sqrt(6) sigma.
constexpr double kMedianOfNormal = 0.6745;
constexpr double kMeanOfNormal = 0.7979;
constexpr double kBendOfNormal = 2.4495;
// Figures are written with seven digits at most; what is below that is rounding.
constexpr double kRounding = 1e-7;

std::int64_t LevelCount(std::int64_t points) {
  return points <= 12 ? points : std::clamp<std::int64_t>(points / 3, 12, kLevelsMax);
}

/// Cuts the buckets into stretches of about equally many points.
std::vector<std::span<const SeriesBucket>> Stretches(const SeriesHistory& history) {
  std::vector<std::span<const SeriesBucket>> out;
  const auto buckets = history.buckets();
  const std::int64_t wanted = std::min<std::int64_t>(LevelCount(history.points()),
                                                     static_cast<std::int64_t>(buckets.size()));
  std::size_t from = 0;
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    seen += buckets[i].count;
    const auto made = static_cast<std::int64_t>(out.size()) + 1;
    if (seen * wanted >= made * history.points()) {
      out.push_back(buckets.subspan(from, i + 1 - from));
      from = i + 1;
    }
  }
  return out;
}

double LevelOf(std::span<const SeriesBucket> stretch) {
  std::vector<double> means;
  means.reserve(stretch.size());
  for (const SeriesBucket& bucket : stretch) {
    means.push_back(bucket.mean);
  }
  return Median(std::move(means));
}

/// Noise of one point, from the bends of all buckets in [from, to).
double PointNoise(std::span<const SeriesBucket> buckets) {
  std::vector<double> bends;
  bool single = true;
  for (const SeriesBucket& bucket : buckets) {
    if (bucket.bends > 0) {
      bends.push_back(bucket.bend_sum / static_cast<double>(bucket.bends));
      single = single && bucket.bends == 1;
    }
  }
  return Median(std::move(bends)) / kBendOfNormal / (single ? kMedianOfNormal : kMeanOfNormal);
}

double LevelNoise(std::span<const double> levels) {
  std::vector<double> bends;
  for (std::size_t i = 2; i < levels.size(); ++i) {
    bends.push_back(std::abs(levels[i - 2] - 2 * levels[i - 1] + levels[i]));
  }
  return Median(std::move(bends)) / kBendOfNormal / kMedianOfNormal;
}

/// Few points are mostly epochs, of which the first alone is the start; many are steps, of which
/// one is mere noise.
std::int64_t StartPoints(std::int64_t points) { return points < 64 ? 1 : points < 256 ? 3 : 5; }

double StartLevel(const SeriesHistory& history) {
  const auto count = static_cast<std::size_t>(StartPoints(history.points()));
  const auto head = history.head();
  return Median(
      {head.begin(), head.begin() + static_cast<std::ptrdiff_t>(std::min(count, head.size()))});
}

struct Line {
  double change = 0;  // Over the whole stretch.
  double error = 0;
};

/// A straight line through the last `used` levels.
Line FitLast(const SeriesShape& shape, std::size_t used) {
  const std::size_t all = shape.levels.size();
  const double middle = static_cast<double>(used - 1) / 2;
  double mean = 0;
  for (std::size_t i = 0; i < used; ++i) {
    mean += shape.levels[all - used + i] / static_cast<double>(used);
  }
  double sxx = 0;
  double sxy = 0;
  for (std::size_t i = 0; i < used; ++i) {
    const double x = static_cast<double>(i) - middle;
    sxx += x * x;
    sxy += x * (shape.levels[all - used + i] - mean);
  }
  const double slope = sxy / sxx;
  double residual_squares = 0;
  for (std::size_t i = 0; i < used; ++i) {
    const double residual =
        shape.levels[all - used + i] - mean - slope * (static_cast<double>(i) - middle);
    residual_squares += residual * residual;
  }
  // A loss that fell by orders of magnitude is noisy in proportion to its value: its end has a
  // noise of its own.
  const std::span<const double> late = std::span(shape.levels).last(std::max(used, all / 2));
  const double noise = late.size() < kLevelsForNoise
                           ? shape.level_noise
                           : std::min(shape.level_noise, LevelNoise(late));
  const double scatter =
      std::max(std::sqrt(residual_squares / static_cast<double>(used - 2)), 0.7 * noise);
  const auto span = static_cast<double>(used - 1);
  double largest = 0;
  for (const double level : late) {
    largest = std::max(largest, std::abs(level));
  }
  return {slope * span, std::max(scatter / std::sqrt(sxx) * span, kRounding * largest)};
}

void FitEnd(SeriesShape& shape) {
  const std::size_t all = shape.levels.size();
  if (all < 3) {
    return;
  }
  const Line end = FitLast(shape, std::min(all, std::max<std::size_t>(4, all * 2 / 5)));
  shape.end_change = end.change;
  shape.end_change_error = end.error;
  const double matters =
      std::min(0.01 * std::max(shape.start - shape.best, 0.0), 0.02 * std::abs(shape.end));
  const Line late = FitLast(shape, std::max<std::size_t>(3, all * 3 / 4));
  shape.late_change = late.change;
  shape.late_change_error = late.error;
  // Where the last three quarters fall beyond doubt, less is asked of the last part, which holds
  // fewer points.
  const bool goes_on = late.change < -4 * late.error && end.change < -1.8 * end.error &&
                       -end.change > 0.03 * std::abs(shape.end);
  shape.still_falling = (end.change < -2.5 * end.error || goes_on) && -end.change > matters;
}

}  // namespace

double Median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

namespace {

/// Whether values about as low as this one come up all along: the loss of a tiny batch is small by
/// chance.
bool IsOrdinary(const SeriesHistory& history, double value, double sign) {
  const auto stretches = Stretches(history);
  const auto low = [sign](const SeriesBucket& bucket) {
    return sign > 0 ? bucket.min : -bucket.max;
  };
  const auto as_low =
      std::count_if(stretches.begin() + 1, stretches.end(), [&](const auto& stretch) {
        return std::any_of(stretch.begin(), stretch.end(),
                           [&](const SeriesBucket& bucket) { return low(bucket) <= 2 * value; });
      });
  return 4 * as_low >= static_cast<std::ptrdiff_t>(stretches.size());
}

}  // namespace

double SeriesShape::Scale() const { return std::max(std::abs(start), std::abs(end)); }

SeriesShape ShapeOf(const SeriesHistory& history, bool lower_is_better) {
  SeriesShape shape;
  shape.points = history.points();
  if (shape.points == 0) {
    return shape;
  }
  const double sign = lower_is_better ? 1 : -1;
  for (const auto& stretch : Stretches(history)) {
    shape.levels.push_back(sign * LevelOf(stretch));
  }
  // A loss may begin with a jump up (warm-up, no object found yet): the start is the highest of its
  // first eighth.
  shape.first = sign * StartLevel(history);
  // When the very first steps throw the loss up, its first point alone is where it began.
  const double begin = sign * history.head()[0];
  if (shape.first > 5 * std::abs(begin) && !IsOrdinary(history, begin, sign)) {
    shape.first = begin;
  }
  shape.start = shape.first;
  for (std::size_t i = 0; i < shape.levels.size() / 8; ++i) {
    shape.start = std::max(shape.start, shape.levels[i]);
  }
  shape.end = shape.levels.back();
  const auto best = std::min_element(shape.levels.begin(), shape.levels.end());
  shape.best = *best;
  shape.best_at = shape.levels.size() < 2 ? 1
                                          : static_cast<double>(best - shape.levels.begin()) /
                                                static_cast<double>(shape.levels.size() - 1);
  shape.worst = *std::max_element(shape.levels.begin(), shape.levels.end());
  const auto buckets = history.buckets();
  // A series printed with few digits has no scatter of its own below its last digit.
  const double floor = std::max(0.3 * std::min(history.smallest_change(), 0.01 * shape.Scale()),
                                kRounding * shape.Scale());
  shape.noise = std::max(PointNoise(buckets), floor);
  shape.noise_start = std::max(
      PointNoise(buckets.subspan(
          0, std::max<std::size_t>(buckets.size() / 4, std::min<std::size_t>(buckets.size(), 4)))),
      floor);
  const double stretch_points =
      static_cast<double>(shape.points) / static_cast<double>(shape.levels.size());
  shape.level_noise = std::max(LevelNoise(shape.levels), shape.noise / std::sqrt(stretch_points));
  shape.drop = shape.start - shape.end;
  const double start_error = std::max(shape.noise, shape.noise_start) /
                             std::sqrt(static_cast<double>(StartPoints(shape.points)));
  shape.drop_in_noise_units = shape.drop / std::hypot(start_error, shape.level_noise);
  FitEnd(shape);
  return shape;
}

}  // namespace whystop
