#include <algorithm>
#include <memory>

#include "detect/detectors.h"
#include "detect/update_ratios.h"

namespace whystop {
namespace {

// A tenth of each weight a step: healthy runs stay at a hundredth, and pass this only in their
// first steps.
constexpr double kRatioMin = 0.1;
// An update as large as the weights themselves, once in most of the tensors: they were thrown away.
constexpr double kHighestMin = 1;
constexpr std::uint64_t kCountMin = 16;

/// Each update changes the weights by a large part of their size.
class UpdateRatioTooLarge final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override { ratios_.Push(event); }

  void Finish(FindingSink& out) override {
    const auto ratio = ratios_.Early();
    const auto highest = ratios_.Highest();
    if (!ratio || !highest || (*ratio < kRatioMin && *highest < kHighestMin)) {
      return;
    }
    Finding finding;
    finding.detector = "update/ratio-too-large";
    finding.strength = std::max(*ratio / kRatioMin, *highest / kHighestMin);
    finding.series = ratios_.Extreme(true);
    ratios_.Describe(finding);
    out.Add(std::move(finding));
  }

 private:
  UpdateRatios ratios_{kCountMin};
};

}  // namespace

std::unique_ptr<Detector> MakeUpdateRatioTooLarge() {
  return std::make_unique<UpdateRatioTooLarge>();
}

}  // namespace whystop
