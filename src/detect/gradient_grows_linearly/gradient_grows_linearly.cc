#include <cmath>
#include <memory>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

constexpr std::int64_t kPointsMin = 20;
constexpr double kGrowthMin = 5;          // Last level over first.
constexpr double kCorrelationMin = 0.97;  // Of the level with the step number.
constexpr double kEarlyGrowthMin =
    4;  // From the first to the eighth sample, in the median over the weight tensors.

double CorrelationWithTime(const std::vector<double>& levels) {
  const auto count = static_cast<double>(levels.size());
  double mean = 0;
  for (const double level : levels) {
    mean += level / count;
  }
  double sxy = 0;
  double sxx = 0;
  double syy = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double x = static_cast<double>(i) - (count - 1) / 2;
    sxy += x * (levels[i] - mean);
    sxx += x * x;
    syy += (levels[i] - mean) * (levels[i] - mean);
  }
  return syy > 0 ? sxy / std::sqrt(sxx * syy) : 0;
}

/// Gradients rise in a straight line with the step number, as sums do that are never reset: a
/// logged norm over the whole run, or the tensors over their first samples.
class GradientGrowsLinearly final : public HistoryDetector {
 public:
  void Push(const Event& event, FindingSink& out) override {
    HistoryDetector::Push(event, out);
    const auto* stats = event.As<TensorStats>();
    if (stats != nullptr && stats->what == TensorStats::What::kGradient && IsWeightMatrix(*stats) &&
        stats->abs_max > 0) {
      if (LogTrack* track = tensors_.Find(stats->tensor)) {
        track->Push(RmsOf(*stats));
      }
      last_at_ = event.at;
      last_step_ = stats->step;
    }
  }

  void Finish(FindingSink& out) override {
    std::vector<double> starts;
    std::vector<double> growths;
    std::vector<double> halves;  // Growth up to the middle sample.
    for (const auto& [name, track] : tensors_.entries()) {
      if (track.samples >= static_cast<std::int64_t>(LogTrack::kKept)) {
        starts.push_back(track.first[0]);
        growths.push_back(track.first[LogTrack::kKept - 1] - track.first[0]);
        halves.push_back(track.first[LogTrack::kKept / 2 - 1] - track.first[0]);
      }
    }
    const double growth = std::pow(10, Median(growths));
    // A sum has made most of its growth, in orders of magnitude, by the middle; what explodes has
    // made less than half.
    if (!growths.empty() && growth > kEarlyGrowthMin && Median(halves) > 0.5 * Median(growths)) {
      Finding finding;
      finding.detector = "gradient/grows-linearly";
      finding.at = last_at_;
      finding.step_to = last_step_;
      finding.strength = growth / kEarlyGrowthMin;
      AddFact(finding, "from", std::pow(10, Median(starts)));
      AddFact(finding, "to", std::pow(10, Median(starts)) * growth);
      out.Add(std::move(finding));
      return;
    }
    HistoryDetector::Finish(out);
  }

 protected:
  bool Wants(const Scalar& scalar) const override {
    return scalar.role == SeriesRole::kGradientNorm;
  }

  void Judge(const std::string& name, const WatchedSeries& series, FindingSink& out) override {
    if (series.history.points() < kPointsMin || series.history.not_finite() > 0) {
      return;
    }
    const SeriesShape shape = ShapeOf(series.history);
    const double correlation = CorrelationWithTime(shape.levels);
    const double first = shape.levels.front();
    const double last = shape.levels.back();
    if (first <= 0 || last < kGrowthMin * first || correlation < kCorrelationMin) {
      return;
    }
    Finding finding = About("gradient/grows-linearly", name, series);
    finding.strength = last / first / kGrowthMin;
    AddFact(finding, "from", first);
    AddFact(finding, "to", last);
    AddFact(finding, "correlation", correlation);
    out.Add(std::move(finding));
  }

 private:
  TensorTable<LogTrack> tensors_;
  RunTime last_at_{};
  std::int64_t last_step_ = 0;
};

}  // namespace

std::unique_ptr<Detector> MakeGradientGrowsLinearly() {
  return std::make_unique<GradientGrowsLinearly>();
}

}  // namespace whystop
