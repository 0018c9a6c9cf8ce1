#include "view/bucket_line.h"

#include <algorithm>
#include <cmath>

namespace whystop {
namespace {

void Merge(LineBucket& into, const LineBucket& later) {
  into.at = later.at;
  into.min = std::min(into.min, later.min);
  into.max = std::max(into.max, later.max);
  into.sum += later.sum;
  into.finite += later.finite;
  into.not_finite += later.not_finite;
}

}  // namespace

void BucketLine::Halve() {
  for (std::size_t i = 0; i + 1 < buckets_.size(); i += 2) {
    buckets_[i / 2] = buckets_[i];
    Merge(buckets_[i / 2], buckets_[i + 1]);
  }
  buckets_.resize(buckets_.size() / 2);
  points_a_bucket_ *= 2;
}

std::vector<LineBucket> BucketLine::Reduced(std::size_t buckets_max) const {
  const std::size_t together = (buckets_.size() + buckets_max - 1) / buckets_max;
  std::vector<LineBucket> out;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (i % together == 0) {
      out.push_back(buckets_[i]);
    } else {
      Merge(out.back(), buckets_[i]);
    }
  }
  return out;
}

void BucketLine::Push(double x, RunTime at, double value) {
  const bool open =
      !buckets_.empty() && buckets_.back().finite + buckets_.back().not_finite < points_a_bucket_;
  if (!open) {
    if (buckets_.size() == kBucketsMax) {
      Halve();
    }
    buckets_.push_back({.x = x, .at = at});
  }
  LineBucket& bucket = buckets_.back();
  bucket.at = at;
  if (std::isfinite(value)) {
    bucket.min = std::min(bucket.min, value);
    bucket.max = std::max(bucket.max, value);
    bucket.sum += value;
    ++bucket.finite;
  } else {
    ++bucket.not_finite;
  }
  first_ = points_ == 0 ? value : first_;
  last_ = value;
  ++points_;
}

}  // namespace whystop
