#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "model/event.h"

namespace whystop {

/// Neighbouring points of a series as one: their range, so that no spike is lost, and their mean.
struct LineBucket {
  double x = 0;  // Of the first point: a step, or the point's number.
  RunTime at{};  // Of the last point.
  double min = std::numeric_limits<double>::infinity();  // Over the finite values, as all here.
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
  std::int64_t finite = 0;
  std::int64_t not_finite = 0;

  bool HasRange() const { return finite > 0; }
  double Mean() const { return sum / static_cast<double>(finite); }
};

/// A series of any length in bounded memory: when all buckets are full, two become one.
class BucketLine {
 public:
  static constexpr std::size_t kBucketsMax = 1024;

  void Push(double x, RunTime at, double value);

  const std::vector<LineBucket>& buckets() const { return buckets_; }
  /// The same in at most `buckets_max` buckets.
  std::vector<LineBucket> Reduced(std::size_t buckets_max) const;
  std::int64_t points() const { return points_; }
  double first() const { return first_; }
  double last() const { return last_; }

 private:
  void Halve();

  std::vector<LineBucket> buckets_;
  std::int64_t points_a_bucket_ = 1;
  std::int64_t points_ = 0;
  double first_ = 0;
  double last_ = 0;
};

}  // namespace whystop
