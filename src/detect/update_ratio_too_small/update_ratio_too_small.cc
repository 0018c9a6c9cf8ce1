#include <memory>

#include "detect/detectors.h"
#include "detect/update_ratios.h"

namespace whystop {
namespace {

// A hundred-thousandth of each weight a step: it takes a hundred thousand steps to move a weight by
// its own size.
constexpr double kRatioMax = 1e-5;

/// Updates are tiny beside the weights, from the beginning on.
class UpdateRatioTooSmall final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override { ratios_.Push(event); }

  void Finish(FindingSink& out) override {
    const auto ratio = ratios_.Early();
    if (!ratio || *ratio > kRatioMax || *ratio <= LogTrack::kLeast) {
      return;
    }
    Finding finding;
    finding.detector = "update/ratio-too-small";
    finding.strength = kRatioMax / *ratio;
    finding.series = ratios_.Extreme(false);
    ratios_.Describe(finding);
    out.Add(std::move(finding));
  }

 private:
  UpdateRatios ratios_;
};

}  // namespace

std::unique_ptr<Detector> MakeUpdateRatioTooSmall() {
  return std::make_unique<UpdateRatioTooSmall>();
}

}  // namespace whystop
