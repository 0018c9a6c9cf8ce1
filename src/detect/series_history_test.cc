#include "detect/series_history.h"

#include <gtest/gtest.h>

#include <climits>

namespace whystop {
namespace {

SeriesHistory HistoryOf(bool thinned, const std::vector<std::int64_t>& steps) {
  SeriesHistory history;
  for (const std::int64_t step : steps) {
    Scalar scalar;
    scalar.step = step;
    scalar.value = 1000.0 - static_cast<double>(step) / 1000;
    history.Push(scalar, thinned);
  }
  return history;
}

/// Goal: of a series whose middle was thinned, a stretch of buckets is as long in steps as it would be
/// of the whole series: the ends that were kept in full do not weigh more than they were long.
TEST(SeriesHistory, WeighsAThinnedSeriesBySteps) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; step < 1'000'000; step += step < 50'000 || step >= 950'000 ? 10 : 1000) {
    steps.push_back(step);
  }
  const SeriesHistory history = HistoryOf(true, steps);
  const auto buckets = history.buckets();
  ASSERT_LE(buckets.size(), SeriesHistory::kBucketsMax);
  ASSERT_GT(buckets.size(), SeriesHistory::kBucketsMax / 4);
  const auto third = buckets[2 * buckets.size() / 3].step_from.value_or(0);
  EXPECT_NEAR(static_cast<double>(third), 667e3, 20e3);
  // By points, the last third of it would begin where the end was kept in full.
  const SeriesHistory by_points = HistoryOf(false, steps);
  const auto all = by_points.buckets();
  EXPECT_GT(all[2 * all.size() / 3].step_from.value_or(0), 950'000);
}

/// Steps of a damaged recording may be anything; the history stays bounded and says nothing wrong.
TEST(SeriesHistory, StaysBoundedWhateverTheSteps) {
  std::vector<std::int64_t> steps;
  for (int i = 0; i < 3000; ++i) {
    steps.push_back(i % 3 == 0 ? INT64_MIN + i : i % 3 == 1 ? INT64_MAX - i : i);
  }
  EXPECT_LE(HistoryOf(true, steps).buckets().size(), SeriesHistory::kBucketsMax);
}

}  // namespace
}  // namespace whystop
