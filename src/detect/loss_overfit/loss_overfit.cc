#include <algorithm>
#include <cmath>
#include <memory>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

constexpr double kRiseInNoiseMin = 5;
constexpr double kRiseShareMin = 0.05;  // Of the best value: a rise that matters.
constexpr std::int64_t kPointsMin = 6;
// A held-out loss that was best in its first stretch may just be that of one pass over the data:
// it must have been taken all along, have climbed by two fifths, nearly all the way, and the
// training loss must have halved.
constexpr double kRiseShareFromStartMin = 0.4;
constexpr double kClimbingMin = 0.75;  // Of the stretches.
// Where training came to a tenth of its start and of the held-out loss, it knows its samples by heart: less will do.
constexpr double kByHeart = 0.1;
constexpr double kRiseShareByHeartMin = 0.1;

/// The held-out loss turned and rose beyond its noise while the training loss went on falling.
class LossOverfit final : public HistoryDetector {
 protected:
  bool Wants(const Scalar& scalar) const override { return IsLoss(scalar.role); }

  void Judge(const std::string& name, const WatchedSeries& series, FindingSink& out) override {
    if (series.role != SeriesRole::kValidationLoss || series.history.points() < kPointsMin) {
      return;
    }
    const SeriesShape held_out = ShapeOf(series.history);
    const std::size_t last = held_out.levels.size() - 1;
    // Two stretches at the end must be up: one alone is a bad epoch.
    const double end = std::min(held_out.levels[last], held_out.levels[last - 1]);
    const double rise = end - held_out.best;
    const double noise = std::max(held_out.level_noise, held_out.noise / 2);
    const bool from_start = held_out.best_at <= 0;
    const WatchedSeries* train = TrainLoss();
    const bool by_heart = train != nullptr && KnowsByHeart(*train, held_out.end);
    const double share = !from_start ? kRiseShareMin : by_heart ? kRiseShareByHeartMin : kRiseShareFromStartMin;
    if (held_out.best_at > 0.8 || rise < kRiseInNoiseMin * noise ||
        rise < share * std::abs(held_out.best) || (from_start && !Climbs(held_out, by_heart ? noise : 0))) {
      return;
    }
    if (train == nullptr || !FellOn(*train, held_out.best_at) ||
        (from_start && (series.first_at >= train->last_at || !Halved(*train)))) {
      return;
    }
    Finding finding = About("loss/overfit", name, series);
    finding.strength = rise / (kRiseInNoiseMin * noise);
    AddFact(finding, "best", held_out.best);
    AddFact(finding, "best_at", held_out.best_at);
    AddFact(finding, "end", held_out.end);
    AddFact(finding, "rise_in_noise_units", rise / noise);
    AddFact(finding, "train_end", train->history.last());
    out.Add(std::move(finding));
  }

 private:
  const WatchedSeries* TrainLoss() const {
    const WatchedSeries* best = nullptr;
    for (const auto& [key, series] : table().states()) {
      if (series.role == SeriesRole::kTrainLoss &&
          (best == nullptr || series.history.points() > best->history.points())) {
        best = &series;
      }
    }
    return best;
  }

  /// A stretch that is lower by no more than `slack` counts too: where nothing is left to learn by heart the held-out loss stays where it came.
  static bool Climbs(const SeriesShape& held_out, double slack) {
    std::size_t up = 0;
    for (std::size_t i = 1; i < held_out.levels.size(); ++i) {
      up += held_out.levels[i] > held_out.levels[i - 1] - slack ? 1 : 0;
    }
    return static_cast<double>(up) >=
           kClimbingMin * static_cast<double>(held_out.levels.size() - 1);
  }

  static bool Halved(const WatchedSeries& train) {
    const SeriesShape shape = ShapeOf(train.history);
    return shape.start > 0 && shape.end < shape.start / 2;
  }

  static bool KnowsByHeart(const WatchedSeries& train, double held_out) {
    const SeriesShape shape = ShapeOf(train.history);
    return shape.end >= 0 && shape.end < kByHeart * shape.start && shape.end < kByHeart * held_out;
  }

  /// Whether the training loss is lower at the end than it was when the held-out loss was best.
  static bool FellOn(const WatchedSeries& train, double best_at) {
    const SeriesShape shape = ShapeOf(train.history);
    if (shape.levels.size() < 3) {
      return false;
    }
    const auto index =
        static_cast<std::size_t>(best_at * static_cast<double>(shape.levels.size() - 1));
    return shape.end < shape.levels[index] - 2 * shape.level_noise;
  }
};

}  // namespace

std::unique_ptr<Detector> MakeLossOverfit() { return std::make_unique<LossOverfit>(); }

}  // namespace whystop
