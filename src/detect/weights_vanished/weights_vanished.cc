#include <memory>
#include <utility>
#include <vector>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

constexpr double kShareMax = 0.05;  // Of what they were when first seen.
constexpr std::int64_t kLooksMin = 3;
constexpr std::size_t kTensorsMin = 2;

/// Most weights shrank to next to nothing and are still there.
class WeightsVanished final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || stats->what != TensorStats::What::kWeight || !IsWeightMatrix(*stats) ||
        stats->nan_count + stats->inf_count > 0) {
      return;
    }
    if (Decline* decline = tensors_.Find(stats->tensor)) {
      decline->last = RmsOf(*stats);
      decline->first = decline->looks == 0 ? decline->last : decline->first;
      ++decline->looks;
      at_ = event.at;
      step_ = stats->step;
    }
  }

  void Finish(FindingSink& out) override {
    std::vector<double> shares;
    const TensorTable<Decline>::Entry* least = nullptr;
    double least_share = 1;
    for (const auto& entry : tensors_.entries()) {
      if (entry.state.looks < kLooksMin || entry.state.first <= 0) {
        continue;
      }
      shares.push_back(entry.state.last / entry.state.first);
      if (least == nullptr || shares.back() < least_share) {
        least = &entry;
        least_share = shares.back();
      }
    }
    const double typical = shares.size() < kTensorsMin ? 1 : Median(std::move(shares));
    if (typical > kShareMax) {
      return;
    }
    Finding finding;
    finding.detector = "weights/vanished";
    finding.at = at_;
    finding.step_to = step_;
    finding.strength = kShareMax / (typical + 1e-9);
    finding.series = least->name;
    AddFact(finding, "share", typical);
    AddFact(finding, "from", least->state.first);
    AddFact(finding, "to", least->state.last);
    out.Add(std::move(finding));
  }

 private:
  struct Decline {
    double first = 0;
    double last = 0;
    std::int64_t looks = 0;
  };
  TensorTable<Decline> tensors_;
  RunTime at_{};
  std::int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<Detector> MakeWeightsVanished() { return std::make_unique<WeightsVanished>(); }

}  // namespace whystop
