#include <cmath>
#include <memory>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

constexpr std::int64_t kPointsMin = 20;
constexpr double kGrowthMin = 5;          // Last level over first.
constexpr double kCorrelationMin = 0.97;  // Of the level with the step number.

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

/// The gradient's norm rises in a straight line with the step number, as sums do that are never reset.
class GradientGrowsLinearly final : public HistoryDetector {
 protected:
  bool Wants(const Scalar& scalar) const override { return scalar.role == SeriesRole::kGradientNorm; }

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
};

}  // namespace

std::unique_ptr<Detector> MakeGradientGrowsLinearly() { return std::make_unique<GradientGrowsLinearly>(); }

}  // namespace whystop
