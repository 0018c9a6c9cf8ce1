#include "view/bucket_line.h"

#include <gtest/gtest.h>

#include <cmath>

namespace whystop {
namespace {

/// Goal: however long a series is, its picture is bounded and shows its one spike and its one NaN.
/// Method: put them at places that fall into different buckets of different sizes.
TEST(BucketLine, LosesNoSpikeOfAMillionPoints) {
  for (const int spike_at : {0, 1, 4095, 500'001, 999'999}) {
    BucketLine line;
    for (int i = 0; i < 1'000'000; ++i) {
      const double value = i == spike_at ? 1000 : i == 777'777 ? std::nan("") : 1;
      line.Push(i, std::chrono::seconds(i), value);
    }
    ASSERT_LE(line.buckets().size(), BucketLine::kBucketsMax);
    for (const std::size_t width : {std::size_t{720}, std::size_t{100}, std::size_t{1}}) {
      double highest = 0;
      std::int64_t not_finite = 0;
      std::int64_t points = 0;
      const auto reduced = line.Reduced(width);
      ASSERT_LE(reduced.size(), width);
      for (const LineBucket& bucket : reduced) {
        highest = std::max(highest, bucket.max);
        not_finite += bucket.not_finite;
        points += bucket.finite + bucket.not_finite;
      }
      EXPECT_EQ(highest, 1000) << "spike at " << spike_at << ", width " << width;
      EXPECT_EQ(not_finite, 1);
      EXPECT_EQ(points, 1'000'000);
    }
  }
}

TEST(BucketLine, KeepsAShortSeriesAsItIs) {
  BucketLine line;
  for (int i = 0; i < 100; ++i) {
    line.Push(10 * i, std::chrono::seconds(i), i * i);
  }
  ASSERT_EQ(line.buckets().size(), 100U);
  EXPECT_EQ(line.buckets()[7].x, 70);
  EXPECT_EQ(line.buckets()[7].Mean(), 49);
  EXPECT_EQ(line.first(), 0);
  EXPECT_EQ(line.last(), 99 * 99);
}

TEST(BucketLine, HasNoRangeWhereNothingIsFinite) {
  BucketLine line;
  line.Push(1, {}, INFINITY);
  EXPECT_FALSE(line.buckets()[0].HasRange());
  EXPECT_EQ(line.buckets()[0].not_finite, 1);
}

}  // namespace
}  // namespace whystop
