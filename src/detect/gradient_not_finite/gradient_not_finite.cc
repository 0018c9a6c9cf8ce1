#include <memory>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

// A scaler of half precision skips single steps with infinite gradients; three in a row, to the
// end, are no such search.
constexpr std::int64_t kRunMin = 3;

/// The gradient's norm is NaN or infinite up to the end of the run.
class GradientNotFinite final : public HistoryDetector {
 protected:
  bool Wants(const Scalar& scalar) const override {
    return scalar.role == SeriesRole::kGradientNorm;
  }

  void Judge(const std::string& name, const WatchedSeries& series, FindingSink& out) override {
    const std::int64_t run = series.history.not_finite_at_end();
    if (run < kRunMin) {
      return;
    }
    Finding finding = About("gradient/not-finite", name, series);
    finding.step_from = series.history.first_not_finite_step();
    finding.strength = static_cast<double>(run) / static_cast<double>(kRunMin);
    AddFact(finding, "not_finite", static_cast<double>(series.history.not_finite()));
    AddFact(finding, "lasting", 1);
    out.Add(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<Detector> MakeGradientNotFinite() { return std::make_unique<GradientNotFinite>(); }

}  // namespace whystop
