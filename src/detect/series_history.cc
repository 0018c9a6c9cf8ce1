#include "detect/series_history.h"

#include <algorithm>
#include <cmath>

#include "model/recorder_notes.h"

namespace whystop {
namespace {

SeriesBucket Merged(const SeriesBucket& left, const SeriesBucket& right) {
  SeriesBucket out = left;
  out.count = left.count + right.count;
  out.mean = (left.mean * static_cast<double>(left.count) +
              right.mean * static_cast<double>(right.count)) /
             static_cast<double>(out.count);
  out.min = std::min(left.min, right.min);
  out.max = std::max(left.max, right.max);
  out.bend_sum = left.bend_sum + right.bend_sum;
  out.bends = left.bends + right.bends;
  out.step_to = right.step_to ? right.step_to : left.step_to;
  return out;
}

}  // namespace

bool SaysThinned(const Event& event) {
  const auto* note = event.As<RecorderNote>();
  return note != nullptr && note->text == kThinnedNote;
}

void SeriesHistory::Push(const Scalar& scalar, bool thinned) {
  if (StartsOver(scalar)) {
    const std::int64_t restarts = restarts_ + 1;
    *this = SeriesHistory(lower_is_better_);
    restarts_ = restarts;
  }
  if (scalar.step) {
    last_step_ = scalar.step;
  }
  if (scalar.epoch) {
    last_epoch_ = scalar.epoch;
    first_epoch_ = first_epoch_ ? first_epoch_ : scalar.epoch;
  }
  if (!std::isfinite(scalar.value)) {
    ++not_finite_;
    ++not_finite_run_;
    if (not_finite_ == 1) {
      first_not_finite_step_ = scalar.step;
    }
    return;
  }
  not_finite_run_ = 0;
  Append(scalar, thinned && scalar.step);
}

// Steps that count within each epoch go back too, and so does a run resumed from a checkpoint:
// neither jumps back to where the series began.
bool SeriesHistory::StartsOver(const Scalar& scalar) const {
  if (points_ < 2) {
    return false;
  }
  const bool epoch_back = scalar.epoch && last_epoch_ && *scalar.epoch < *last_epoch_ - 0.5;
  const bool step_back = scalar.step && last_step_ && *scalar.step < *last_step_;
  const bool epoch_forward = scalar.epoch && last_epoch_ && *scalar.epoch > *last_epoch_;
  if (!(epoch_back || (step_back && !epoch_forward))) {
    return false;
  }
  const double gained = lower_is_better_ ? head_[0] - recent_ : recent_ - head_[0];
  const double lost = lower_is_better_ ? scalar.value - recent_ : recent_ - scalar.value;
  const bool scale_known = gained > 0.1 * std::max(std::abs(head_[0]), std::abs(recent_));
  return scale_known && lost > 0.5 * gained;
}

std::int64_t SeriesHistory::CellOf(std::optional<std::int64_t> of) const {
  // Without a sign: the steps of a damaged recording may be anything.
  const auto from = static_cast<std::uint64_t>(buckets_.front().step_from.value_or(0));
  const auto step = static_cast<std::uint64_t>(of.value_or(0));
  return static_cast<std::int64_t>(step - from) / cell_steps_;
}


void SeriesHistory::Append(const Scalar& scalar, bool thinned) {
  const double value = scalar.value;
  const std::optional<std::int64_t> step = scalar.step;
  if (head_size_ < kHeadMax) {
    head_[head_size_++] = value;
  }
  const bool full = buckets_.empty() || (thinned ? CellOf(step) != CellOf(buckets_.back().step_from)
                                                 : buckets_.back().count >= bucket_points_);
  if (full) {
    if (buckets_.size() == kBucketsMax) {
      thinned ? WidenCells() : MergePairs();
    }
    buckets_.push_back({.count = 0,
                        .mean = value,
                        .min = value,
                        .max = value,
                        .bend_sum = 0,
                        .bends = 0,
                        .step_from = step,
                        .step_to = step});
  }
  SeriesBucket& bucket = buckets_.back();
  ++bucket.count;
  bucket.mean += (value - bucket.mean) / static_cast<double>(bucket.count);
  bucket.min = std::min(bucket.min, value);
  bucket.max = std::max(bucket.max, value);
  bucket.step_to = step ? step : bucket.step_to;
  if (points_ >= 1) {
    const double change = std::abs(value - last_);
    if (change > 0 && (smallest_change_ == 0 || change < smallest_change_)) {
      smallest_change_ = change;
    }
  }
  if (points_ >= 2) {
    bucket.bend_sum += std::abs(before_last_ - 2 * last_ + value);
    ++bucket.bends;
  }
  recent_ = points_ == 0
                ? value
                : recent_ + (value - recent_) /
                                static_cast<double>(std::min<std::int64_t>(points_ + 1, 10));
  before_last_ = last_;
  last_ = value;
  ++points_;
}

void SeriesHistory::MergePairs() {
  for (std::size_t i = 0; i + 1 < buckets_.size(); i += 2) {
    buckets_[i / 2] = Merged(buckets_[i], buckets_[i + 1]);
  }
  buckets_.resize(buckets_.size() / 2);
  bucket_points_ *= 2;
}

void SeriesHistory::WidenCells() {
  while (buckets_.size() > kBucketsMax / 2) {
    if (cell_steps_ > INT64_MAX / 2) {
      return MergePairs();  // Steps that go back and forth: no grid holds them.
    }
    cell_steps_ *= 2;
    std::size_t last = 0;
    for (std::size_t i = 1; i < buckets_.size(); ++i) {
      if (CellOf(buckets_[i].step_from) == CellOf(buckets_[last].step_from)) {
        buckets_[last] = Merged(buckets_[last], buckets_[i]);
      } else {
        buckets_[++last] = buckets_[i];
      }
    }
    buckets_.resize(last + 1);
  }
}

std::optional<std::int64_t> SeriesHistory::step_from() const {
  return buckets_.empty() ? std::nullopt : buckets_.front().step_from;
}

std::optional<std::int64_t> SeriesHistory::step_to() const { return last_step_; }

}  // namespace whystop
