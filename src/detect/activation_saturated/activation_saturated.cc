#include <memory>
#include <optional>

#include "detect/activation_watch.h"
#include "detect/detectors.h"

namespace whystop {
namespace {

// A gate may be wide open or shut for good reason; nine values in ten at the end of the range leave
// no gradient.
constexpr double kShareMin = 0.9;

/// A sigmoid or tanh layer nearly all of whose outputs stand at the ends of their range.
class ActivationSaturated final : public ActivationWatch {
 public:
  ActivationSaturated() : ActivationWatch("activation/saturated", kShareMin) {}

 private:
  std::optional<double> ShareOf(const Observation& seen) const override {
    return seen.Number("saturated");
  }
};

}  // namespace

std::unique_ptr<Detector> MakeActivationSaturated() {
  return std::make_unique<ActivationSaturated>();
}

}  // namespace whystop
