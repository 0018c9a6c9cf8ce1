#include <algorithm>
#include <cmath>
#include <memory>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

// A point counts when it lies above the start by five times the scatter of the first quarter, but
// at least half and at most one and a half times the start's own value: when updates overshoot at
// once, that scatter is the fault itself.
constexpr double kAboveMin = 0.5;
constexpr double kAboveMax = 1.5;
constexpr double kAboveNoise = 5;
constexpr double kShareMin = 0.1;
constexpr double kFallen = 0.5;  // Of the highest level of the first eighth.
constexpr std::int64_t kPointsMin = 20;

/// A training loss that, long after its start, keeps jumping far above where it began: updates
/// overshoot.
class LossOscillates final : public HistoryDetector {
 protected:
  void Judge(const std::string& name, const WatchedSeries& series, FindingSink& out) override {
    const SeriesHistory& history = series.history;
    if (history.points() < kPointsMin) {
      return;
    }
    const SeriesShape shape = ShapeOf(history);
    const double first = shape.first;
    const double size = std::abs(first);
    const double limit =
        first + std::clamp(kAboveNoise * shape.noise_start, kAboveMin * size, kAboveMax * size);
    const auto late = history.buckets().subspan(history.buckets().size() / 4);
    const auto above = std::count_if(late.begin(), late.end(),
                                     [limit](const SeriesBucket& b) { return b.max > limit; });
    const auto below = std::count_if(late.begin(), late.end(),
                                     [first](const SeriesBucket& b) { return b.min < first; });
    const double share = static_cast<double>(above) / static_cast<double>(late.size());
    // Never back below its start: that is divergence. Well below it on the whole: it learns, if
    // noisily.
    // Of tiny batches the first few values may be low by chance: then the levels tell.
    const bool falls = Median(shape.levels) < first - 0.1 * size ||
                       (shape.start > 0 && shape.end < kFallen * shape.start);
    if (share < kShareMin || below == 0 || falls) {
      return;
    }
    Finding finding = About("loss/oscillates", name, series);
    finding.strength = share / kShareMin;
    AddFact(finding, "start", first);
    AddFact(finding, "share_above_start", share);
    AddFact(finding, "highest",
            std::max_element(late.begin(), late.end(), [](const auto& a, const auto& b) {
              return a.max < b.max;
            })->max);
    out.Add(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<Detector> MakeLossOscillates() { return std::make_unique<LossOscillates>(); }

}  // namespace whystop
