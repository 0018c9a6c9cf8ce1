#include <memory>

#include "detect/detectors.h"
#include "detect/update_ratios.h"

namespace whystop {
namespace {

// A tenth of each weight a step: healthy runs stay at a hundredth, and pass this only in their first steps.
constexpr double kRatioMin = 0.1;

/// Each update changes the weights by a large part of their size.
class UpdateRatioTooLarge final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override { ratios_.Push(event); }

  void Finish(FindingSink& out) override {
    const auto ratio = ratios_.Early();
    if (!ratio || *ratio < kRatioMin) {
      return;
    }
    Finding finding;
    finding.detector = "update/ratio-too-large";
    finding.strength = *ratio / kRatioMin;
    finding.series = ratios_.Extreme(true);
    ratios_.Describe(finding);
    out.Add(std::move(finding));
  }

 private:
  UpdateRatios ratios_;
};

}  // namespace

std::unique_ptr<Detector> MakeUpdateRatioTooLarge() { return std::make_unique<UpdateRatioTooLarge>(); }

}  // namespace whystop
