#include <limits>
#include <memory>
#include <utility>

#include "detect/detectors.h"
#include "detect/weight_sizes.h"

namespace whystop {
namespace {

constexpr double kShareMax = 0.05;  // Of what they were when first seen.
constexpr std::int64_t kLooksMin = 3;

/// Most weights shrank to next to nothing and are still there.
class WeightsVanished final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override { sizes_.Push(event); }

  void Finish(FindingSink& out) override {
    const auto share = sizes_.Change();
    if (!share || *share > kShareMax) {
      return;
    }
    Finding finding = sizes_.About("weights/vanished", false);
    finding.strength = kShareMax / (*share + 1e-9);
    AddFact(finding, "share", *share);
    out.Add(std::move(finding));
  }

 private:
  WeightSizes sizes_{std::numeric_limits<std::int64_t>::max(), kLooksMin};
};

}  // namespace

std::unique_ptr<Detector> MakeWeightsVanished() { return std::make_unique<WeightsVanished>(); }

}  // namespace whystop
