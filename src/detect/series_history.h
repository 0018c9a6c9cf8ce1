#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/event.h"

namespace whystop {

/// A stretch of neighbouring points of a series.
struct SeriesBucket {
  std::int64_t count = 0;  // Finite points.
  double mean = 0;
  double min = 0;
  double max = 0;
  double bend_sum = 0;  // Sum of |x[i-2] - 2 x[i-1] + x[i]|: noise without the trend.
  std::int64_t bends = 0;
  std::optional<std::int64_t> step_from;
  std::optional<std::int64_t> step_to;
};

/// Whether an event says that the run's middle was thinned.
bool SaysThinned(const Event& event);

/// Whether values that are not finite are there to stay: a loss that came back from them before has
/// not ended with one or two more.
inline bool LastsToTheEnd(std::int64_t not_finite, std::int64_t run_at_end) {
  constexpr std::int64_t kSureRun = 3;
  return run_at_end > 0 && (run_at_end == not_finite || run_at_end >= kSureRun);
}

/// The whole life of one series in bounded memory: neighbouring buckets are merged two by two when
/// there are too many, so that the end of a run can be compared with its beginning however long it
/// was. O(1) a point. A run that starts over in the same file (steps go back and the value jumps
/// back up) starts the history over.
class SeriesHistory {
 public:
  static constexpr std::size_t kBucketsMax = 512;
  static constexpr std::size_t kHeadMax = 16;

  /// `lower_is_better` tells what "back to where it began" means for a restart.
  explicit SeriesHistory(bool lower_is_better = true) : lower_is_better_(lower_is_better) {}

  /// `thinned`: some points of the series stand for more steps than others.
  void Push(const Scalar& scalar, bool thinned = false);

  bool lower_is_better() const { return lower_is_better_; }
  std::int64_t points() const { return points_; }  // Finite ones.
  std::int64_t not_finite() const { return not_finite_; }
  /// An unbroken run up to the last point; 0 where the last point is one of those that come and go.
  std::int64_t not_finite_at_end() const {
    return LastsToTheEnd(not_finite_, not_finite_run_) ? not_finite_run_ : 0;
  }
  std::optional<std::int64_t> first_not_finite_step() const { return first_not_finite_step_; }
  std::span<const SeriesBucket> buckets() const { return buckets_; }
  std::span<const double> head() const {
    return {head_.data(), head_size_};
  }                                      // The first finite values, raw.
  double last() const { return last_; }  // The last finite value.
  double smallest_change() const {
    return smallest_change_;
  }  // Smallest change seen that is not zero; 0: none.
  std::int64_t restarts() const { return restarts_; }
  std::optional<std::int64_t> step_from() const;
  std::optional<std::int64_t> step_to() const;
  std::optional<double> epoch_from() const { return first_epoch_; }
  std::optional<double> epoch_to() const { return last_epoch_; }

 private:
  bool StartsOver(const Scalar& scalar) const;
  void Append(const Scalar& scalar, bool thinned);
  void MergePairs();
  void WidenCells();
  std::int64_t CellOf(std::optional<std::int64_t> step) const;

  bool lower_is_better_;
  std::vector<SeriesBucket> buckets_;
  std::int64_t bucket_points_ = 1;  // Points that make a full bucket; doubles with each merge.
  // Of a thinned series a bucket takes what lies in one cell of a grid of steps, however many points that
  // is: else the stretches that were kept in full would weigh more than they were long.
  std::int64_t cell_steps_ = 1;
  std::array<double, kHeadMax> head_{};
  std::size_t head_size_ = 0;
  std::int64_t points_ = 0;
  std::int64_t not_finite_ = 0;
  std::int64_t not_finite_run_ = 0;
  std::optional<std::int64_t> first_not_finite_step_;
  std::optional<std::int64_t> last_step_;
  std::optional<double> first_epoch_;
  std::optional<double> last_epoch_;
  double last_ = 0;
  double before_last_ = 0;
  double recent_ = 0;  // Moving mean of about the last ten values.
  double smallest_change_ = 0;
  std::int64_t restarts_ = 0;
};

}  // namespace whystop
