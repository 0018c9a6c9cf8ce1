#include <memory>
#include <optional>

#include "detect/activation_watch.h"
#include "detect/detectors.h"

namespace whystop {
namespace {

// Half of the units of a layer may sleep for a batch in a healthy net; nine in ten may not.
constexpr double kShareMin = 0.9;
constexpr double kSamplesMin = 8;  // In a smaller batch a unit may sleep by chance.

/// A layer nearly all of whose rectified units stay at zero for every sample.
class ActivationDead final : public ActivationWatch {
 public:
  ActivationDead() : ActivationWatch("activation/dead", kShareMin) {}

  void Push(const Event& event, FindingSink& out) override {
    if (const auto* stats = event.As<TensorStats>()) {
      if (stats->what == TensorStats::What::kActivation) {
        positive_before_ = stats->max > 0;
      }
      return;
    }
    ActivationWatch::Push(event, out);
  }

 private:
  std::optional<double> ShareOf(const Observation& seen) const override {
    const auto dead = seen.Number("dead");
    const auto units = seen.Number("units");
    if (!dead || !units || *units < 1 || seen.Number("samples").value_or(0) < kSamplesMin) {
      return std::nullopt;
    }
    // Nothing at all arrives, though the layer that ran before gives positive values: they are
    // thrown away on the way, and no rectifier does that.
    const std::string* side = seen.Text("side");
    const bool thrown_away =
        side != nullptr && *side == "input" && *dead == *units && positive_before_;
    return thrown_away ? std::nullopt : std::optional(*dead / *units);
  }

  bool positive_before_ = false;  // The output of the layer that was looked at last.
};

}  // namespace

std::unique_ptr<Detector> MakeActivationDead() { return std::make_unique<ActivationDead>(); }

}  // namespace whystop
