#include "view/pace.h"

#include <algorithm>

namespace whystop {

const SeriesLine* LossSeries(const RunView& view) {
  const SeriesLine* best = nullptr;
  for (const SeriesLine& series : view.series) {
    const bool better = best == nullptr ||
                        (series.role == best->role && series.line.points() > best->line.points());
    best = better ? &series : best;
  }
  return best;
}

const SeriesLine* MainSeries(const RunView& view) {
  const SeriesLine* decided = nullptr;
  for (const SeriesLine& series : view.series) {
    const bool named = !view.decided_by.empty() && series.name == view.decided_by;
    if (named && (decided == nullptr || series.line.points() > decided->line.points())) {
      decided = &series;
    }
  }
  return decided != nullptr ? decided : LossSeries(view);
}

Pace PaceOf(const RunView& view) {
  Pace pace;
  const SeriesLine* series = LossSeries(view);
  if (!view.timed || series == nullptr || !series->has_steps) {
    return pace;
  }
  const std::vector<LineBucket>& buckets = series->line.buckets();
  if (buckets.size() < 3) {
    return pace;
  }
  const LineBucket& from = buckets[buckets.size() / 2];
  const LineBucket& to = buckets.back();
  const double seconds = std::chrono::duration<double>(to.at - from.at).count();
  if (seconds <= 0 || to.x <= from.x) {
    return pace;
  }
  pace.steps_a_second = (to.x - from.x) / seconds;
  const Progress& progress = view.progress;
  if (progress.steps_planned && progress.step && *progress.steps_planned >= *progress.step) {
    pace.seconds_left =
        static_cast<double>(*progress.steps_planned - *progress.step) / *pace.steps_a_second;
  } else if (progress.epochs_planned && progress.epoch && *progress.epoch > 1) {
    // Epochs begun are counted: the one that runs is taken as half done.
    const double done = *progress.epoch - 0.5;
    const double total_s = std::chrono::duration<double>(view.last_at).count();
    pace.seconds_left = std::max(0.0, total_s / done * (*progress.epochs_planned - done));
  }
  return pace;
}

namespace {

/// The mean of a series of the probe over its newer half.
std::optional<double> NewerMean(const RunView& view, std::string_view name) {
  for (const SeriesLine& series : view.series) {
    const std::vector<LineBucket>& buckets = series.line.buckets();
    double sum = 0;
    std::int64_t count = 0;
    for (std::size_t i = buckets.size() / 2; series.name == name && i < buckets.size(); ++i) {
      sum += buckets[i].sum;
      count += buckets[i].finite;
    }
    if (count > 0) {
      return sum / static_cast<double>(count);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> DataWaitOf(const RunView& view) {
  const auto waited = NewerMean(view, "data_wait_s");
  const auto step = NewerMean(view, "step_s");
  return waited && step && *step > 0 ? std::optional(std::clamp(*waited / *step, 0.0, 1.0))
                                     : std::nullopt;
}

std::vector<std::optional<double>> SparkOf(const BucketLine& line, std::size_t count) {
  std::vector<std::optional<double>> out;
  for (const LineBucket& bucket : line.Reduced(count)) {
    out.push_back(bucket.HasRange() ? std::optional(bucket.Mean()) : std::nullopt);
  }
  return out;
}

}  // namespace whystop
