#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

constexpr std::int64_t kStepsMax = 20;
constexpr double kGrowthMin = 3;
constexpr std::size_t kTensorsMin = 2;

/// The first steps make the weights several times as large as they began: what the initialisation
/// made is gone.
class WeightsOutgrown final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || stats->what != TensorStats::What::kWeight || !IsWeightMatrix(*stats) ||
        stats->nan_count + stats->inf_count > 0) {
      return;
    }
    Growth* growth = tensors_.Find(stats->tensor);
    const double rms = RmsOf(*stats);
    if (growth == nullptr || rms == 0) {
      return;
    }
    if (growth->first == 0) {
      growth->first = rms;
      growth->first_step = stats->step;
    }
    if (stats->step - growth->first_step <= kStepsMax) {
      growth->last = rms;
      at_ = event.at;
      step_ = std::max(step_, stats->step);
    }
  }

  void Finish(FindingSink& out) override {
    std::vector<double> factors;
    const TensorTable<Growth>::Entry* worst = nullptr;
    for (const auto& entry : tensors_.entries()) {
      // Seen once: nothing is known of its growth.
      if (entry.state.first == 0 || entry.state.last == entry.state.first) {
        continue;
      }
      factors.push_back(entry.state.last / entry.state.first);
      const bool worse =
          worst == nullptr || factors.back() > worst->state.last / worst->state.first;
      worst = worse ? &entry : worst;
    }
    if (factors.size() < kTensorsMin) {
      return;
    }
    const double typical = Median(std::move(factors));
    if (typical < kGrowthMin) {
      return;
    }
    Finding finding;
    finding.detector = "weights/outgrown";
    finding.at = at_;
    finding.step_to = step_;
    finding.strength = typical / kGrowthMin;
    finding.series = worst->name;
    AddFact(finding, "factor", typical);
    AddFact(finding, "steps", static_cast<double>(step_));
    out.Add(std::move(finding));
  }

 private:
  struct Growth {
    double first = 0;
    double last = 0;
    std::int64_t first_step = 0;
  };
  TensorTable<Growth> tensors_;
  RunTime at_{};
  std::int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<Detector> MakeWeightsOutgrown() { return std::make_unique<WeightsOutgrown>(); }

}  // namespace whystop
