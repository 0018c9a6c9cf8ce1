#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "detect/detectors.h"
#include "detect/series_history.h"
#include "detect/series_shape.h"
#include "detect/series_state.h"
#include "model/series_table.h"

namespace whystop {
namespace {

std::string RoleName(SeriesRole role) {
  switch (role) {
    case SeriesRole::kTrainLoss:
      return "train-loss";
    case SeriesRole::kValidationLoss:
      return "validation-loss";
    case SeriesRole::kTrainScore:
      return "train-score";
    default:
      return "validation-score";
  }
}

/// The mean of the last third, as far as buckets go. The level of a stretch leaves out what is
/// rare.
double MeanOfTheEnd(const SeriesHistory& history) {
  const auto buckets = history.buckets();
  double sum = 0;
  double count = 0;
  for (const SeriesBucket& bucket : buckets.subspan(2 * buckets.size() / 3)) {
    sum += bucket.mean * static_cast<double>(bucket.count);
    count += static_cast<double>(bucket.count);
  }
  return count > 0 ? sum / count : 0;
}

/// The lowest mean of five neighbouring points: a gain that was lost again so soon that no level shows it.
class LowestRun {
 public:
  void Push(double value) {
    if (!std::isfinite(value)) {
      return;
    }
    last_[count_++ % last_.size()] = value;
    if (count_ >= last_.size()) {
      lowest_ = std::min(lowest_, std::accumulate(last_.begin(), last_.end(), 0.0) / static_cast<double>(last_.size()));
    }
  }
  std::optional<double> lowest() const { return count_ >= last_.size() ? std::optional(lowest_) : std::nullopt; }

 private:
  std::array<double, 5> last_{};
  std::size_t count_ = 0;
  double lowest_ = std::numeric_limits<double>::infinity();
};

/// Says of each loss and score what it did over the run. A description, not a reproach: every run
/// has it.
class LossTrend final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    thinned_ = thinned_ || SaysThinned(event);
    const Scalar* scalar = event.As<Scalar>();
    if (scalar == nullptr || !(IsLoss(scalar->role) || IsScore(scalar->role))) {
      return;
    }
    const bool lower_is_better = IsLoss(scalar->role);
    Series* series = table_.Find(*scalar, [&] {
      return Series{scalar->role, SeriesHistory(lower_is_better), {}, {}};
    });
    if (series != nullptr) {
      series->history.Push(*scalar, thinned_);
      series->lowest_run.Push(scalar->value);
      series->last_at = event.at;
    }
  }

  void Finish(FindingSink& out) override {
    for (const auto& [key, series] : table_.states()) {
      const bool lower = IsLoss(series.role);
      const SeriesShape shape = ShapeOf(series.history, lower);
      const double sign = lower ? 1 : -1;
      Finding finding{.detector = "loss/trend",
                      .at = series.last_at,
                      .step_from = series.history.step_from(),
                      .step_to = series.history.step_to(),
                      .strength = 1,
                      .series = key.name,
                      .facts = {}};
      const auto add = [&finding](std::string name, double value, std::string text = {}) {
        finding.facts.push_back({std::move(name), value, std::move(text)});
      };
      add("state", 0, std::string(StateOf(series.history, shape)));
      add("role", 0, RoleName(series.role));
      add("points", static_cast<double>(shape.points));
      add("first", sign * shape.start);
      add("begin", sign * shape.first);
      add("first_value", series.history.head().empty() ? 0 : series.history.head().front());
      add("last_value", series.history.last());
      add("worst", sign * shape.worst);
      add("last", sign * shape.end);
      add("last_mean", MeanOfTheEnd(series.history));
      add("best", sign * shape.best);
      add("best_at", shape.best_at);
      if (const auto lowest = series.lowest_run.lowest()) {
        add("lowest_run", *lowest);
      }
      add("noise", shape.noise);
      add("level_noise", shape.level_noise);
      add("drop_in_noise_units", shape.drop_in_noise_units);
      add("still_falling", shape.still_falling ? 1 : 0);
      add("end_change", sign * shape.end_change);
      add("not_finite", static_cast<double>(series.history.not_finite()));
      add("not_finite_at_end", static_cast<double>(series.history.not_finite_at_end()));
      add("restarts", static_cast<double>(series.history.restarts()));
      add("rank", key.rank);
      add("identical", IsOneValue(series.history) ? 1 : 0);
      out.Add(std::move(finding));
    }
  }

 private:
  struct Series {
    SeriesRole role;
    SeriesHistory history;
    RunTime last_at;
    LowestRun lowest_run;
  };
  SeriesTable<Series> table_;
  bool thinned_ = false;
};

}  // namespace

std::unique_ptr<Detector> MakeLossTrend() { return std::make_unique<LossTrend>(); }

}  // namespace whystop
