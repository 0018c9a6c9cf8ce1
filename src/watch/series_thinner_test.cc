#include "watch/series_thinner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "watch/middle_file.h"

namespace whystop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<SeriesPoint> Thin(const std::vector<SeriesPoint>& points, std::chrono::nanoseconds window) {
  std::vector<SeriesPoint> kept;
  SeriesThinner thinner(window);
  const auto take = [&](const SeriesPoint& point) { kept.push_back(point); };
  for (const SeriesPoint& point : points) {
    thinner.Add(point, take);
  }
  thinner.Flush(take);
  return kept;
}

/// What must not be lost of a series: where it began and ended, its extremes, what was not finite first and last.
struct Facts {
  double first = 0, last = 0, smallest = INFINITY, largest = -INFINITY;
  std::int64_t odd_first = -1, odd_last = -1;
  bool operator==(const Facts&) const = default;
};

std::map<std::string, Facts> FactsOf(const std::vector<SeriesPoint>& points) {
  std::map<std::string, Facts> all;
  for (const SeriesPoint& point : points) {
    const auto [found, is_new] = all.try_emplace(point.key);
    Facts& facts = found->second;
    const double value = point.values.at(0);
    const auto shown = [](double one) { return std::isfinite(one) ? one : 1e300; };
    facts.first = is_new ? shown(value) : facts.first;
    facts.last = shown(value);
    if (std::isfinite(value)) {
      facts.smallest = std::min(facts.smallest, value);
      facts.largest = std::max(facts.largest, value);
    } else {
      facts.odd_first = facts.odd_first < 0 ? point.at.count() : facts.odd_first;
      facts.odd_last = point.at.count();
    }
  }
  return all;
}

/// Three series: a noisy one with a spike and a stretch of NaN, a falling one, and one that speaks seldom.
std::vector<SeriesPoint> ALongRun(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise;
  std::vector<SeriesPoint> points;
  for (int i = 0; i < 20000; ++i) {
    const RunTime at = milliseconds(100) * i;
    const double value = i == 7777 ? 1e6 : i > 12000 && i < 12010 ? NAN : noise(random);
    points.push_back({at, "noisy", SeriesPoint::Keep::kExtremes, {value}, "n"});
    points.push_back({at, "falling", SeriesPoint::Keep::kExtremes, {-1.0 * i}, "f"});
    if (i % 997 == 0) {
      points.push_back({at, "seldom", SeriesPoint::Keep::kExtremes, {1.0 * i}, "s"});
    }
  }
  return points;
}

/// Goal: thinning loses no first, no last, no extreme and no value that is not finite, also when it is
/// repeated with ever wider windows, and keeps the order.
TEST(SeriesThinner, LosesNoExtremeHoweverOftenItIsRepeated) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::vector<SeriesPoint> points = ALongRun(seed);
    const auto whole = FactsOf(points);
    for (auto window = seconds(1); window < seconds(5000); window *= 2) {
      const std::size_t before = points.size();
      points = Thin(points, window);
      EXPECT_LE(points.size(), before);
      EXPECT_EQ(FactsOf(points), whole) << "window " << window.count();
      EXPECT_TRUE(std::is_sorted(points.begin(), points.end(),
                                 [](const auto& a, const auto& b) { return a.at < b.at; }));
    }
    EXPECT_LT(points.size(), 30U);  // In one window: at most six a series.
  }
}

TEST(SeriesThinner, KeepsTheFirstAndTheLastFewOfWhatHappens) {
  std::vector<SeriesPoint> points;
  for (int i = 0; i < 100; ++i) {
    points.push_back({milliseconds(i), "event", SeriesPoint::Keep::kFew, {}, std::to_string(i)});
    points.push_back({milliseconds(i), "name", SeriesPoint::Keep::kOnce, {}, "name"});
  }
  std::string kept;
  for (const SeriesPoint& point : Thin(points, seconds(1))) {
    kept += point.message + " ";
  }
  EXPECT_EQ(kept, "0 name 1 2 3 96 97 98 99 ");
}

}  // namespace
}  // namespace whystop
