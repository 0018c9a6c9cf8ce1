#include <memory>

#include "detect/detectors.h"
#include "detect/update_ratios.h"

namespace whystop {
namespace {

// A hundred-thousandth of each weight a step: it takes a hundred thousand steps to move a weight by
// its own size.
constexpr double kRatioMax = 1e-5;
// Or so little that all steps together, each in the same direction, leave the weights where they
// were but for a twentieth.
constexpr double kReachMax = 0.05;
constexpr double kRatioOfShortRun = 1e-4;
constexpr std::uint64_t kCountMin = 2;

/// Updates are tiny beside the weights, from the beginning on.
class UpdateRatioTooSmall final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override { ratios_.Push(event); }

  void Finish(FindingSink& out) override {
    const auto ratio = ratios_.Early();
    if (!ratio || *ratio <= LogTrack::kLeast) {
      return;
    }
    const bool leads_nowhere =
        *ratio <= kRatioOfShortRun && ratios_.Reach().value_or(1) <= kReachMax;
    if (*ratio > kRatioMax && !leads_nowhere) {
      return;
    }
    Finding finding;
    finding.detector = "update/ratio-too-small";
    finding.strength = kRatioOfShortRun / *ratio;
    finding.series = ratios_.Extreme(false);
    ratios_.Describe(finding);
    out.Add(std::move(finding));
  }

 private:
  UpdateRatios ratios_{kCountMin};
};

}  // namespace

std::unique_ptr<Detector> MakeUpdateRatioTooSmall() {
  return std::make_unique<UpdateRatioTooSmall>();
}

}  // namespace whystop
