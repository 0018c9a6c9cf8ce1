#include <memory>
#include <utility>

#include "detect/detectors.h"
#include "detect/weight_sizes.h"

namespace whystop {
namespace {

constexpr std::int64_t kStepsMax = 20;
constexpr std::int64_t kLooksMin = 2;
constexpr double kGrowthMin = 3;

/// The first steps make the weights several times as large as they began: what the initialisation
/// made is gone.
class WeightsOutgrown final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override { sizes_.Push(event); }

  void Finish(FindingSink& out) override {
    const auto growth = sizes_.Change();
    if (!growth || *growth < kGrowthMin) {
      return;
    }
    Finding finding = sizes_.About("weights/outgrown", true);
    finding.strength = *growth / kGrowthMin;
    AddFact(finding, "factor", *growth);
    AddFact(finding, "steps", static_cast<double>(sizes_.last_step()));
    out.Add(std::move(finding));
  }

 private:
  WeightSizes sizes_{kStepsMax, kLooksMin};
};

}  // namespace

std::unique_ptr<Detector> MakeWeightsOutgrown() { return std::make_unique<WeightsOutgrown>(); }

}  // namespace whystop
