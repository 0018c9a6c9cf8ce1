#include <cmath>
#include <memory>
#include <string>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

// Usual initial weights have a size of 1/sqrt(inputs), between 0.6 and 0.002; embeddings have size 1. Exact zeros are left to those
// who know why (last layers of residual branches, adapters).
constexpr double kLargest = 3;
constexpr double kSmallest = 1e-4;

/// Weights that begin far larger or far smaller than any usual initialisation makes them.
class WeightsInitialScale final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || stats->what != TensorStats::What::kWeight || !IsWeightMatrix(*stats)) {
      return;
    }
    double* rms = tensors_.Find(stats->tensor);
    if (rms != nullptr && *rms == 0) {
      *rms = RmsOf(*stats);
      at_ = event.at;
      step_ = stats->step;
    }
  }

  void Finish(FindingSink& out) override {
    std::size_t odd = 0;
    const TensorTable<double>::Entry* worst = nullptr;
    for (const auto& entry : tensors_.entries()) {
      if (entry.state == 0 || (entry.state < kLargest && entry.state > kSmallest)) {
        continue;
      }
      ++odd;
      if (worst == nullptr || std::abs(std::log(entry.state)) > std::abs(std::log(worst->state))) {
        worst = &entry;
      }
    }
    if (worst == nullptr) {
      return;
    }
    Finding finding;
    finding.detector = "weights/initial-scale";
    finding.at = at_;
    finding.step_to = step_;
    finding.strength = worst->state > 1 ? worst->state / kLargest : kSmallest / worst->state;
    finding.series = worst->name;
    AddFact(finding, "rms", worst->state);
    AddFact(finding, "tensors", static_cast<double>(odd));
    AddFact(finding, "of", static_cast<double>(tensors_.entries().size()));
    out.Add(std::move(finding));
  }

 private:
  TensorTable<double> tensors_;
  RunTime at_{};
  std::int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<Detector> MakeWeightsInitialScale() { return std::make_unique<WeightsInitialScale>(); }

}  // namespace whystop
