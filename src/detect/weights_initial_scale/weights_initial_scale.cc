#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

// Usual initial weights have a size of 1/sqrt(inputs), between 0.6 and 0.002; embeddings have
// size 1. Exact zeros are left to those who know why (last layers of residual branches, adapters).
constexpr double kLargest = 3;
constexpr double kSmallest = 1e-4;
// Milder, when more than half of the tensors are like that: one embedding may have size 1, one
// output layer a thousandth.
constexpr double kMostlyLarge = 0.9;
constexpr double kMostlySmall = 2e-3;

/// Weights that begin far larger or far smaller than any usual initialisation makes them.
class WeightsInitialScale final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* stats = event.As<TensorStats>();
    // All values equal: the scale of a normalisation layer.
    if (stats == nullptr || stats->what != TensorStats::What::kWeight || !IsWeightMatrix(*stats) ||
        stats->min == stats->max) {
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
    const auto& all = tensors_.entries();
    const auto share = [&all](auto is_odd) {
      return static_cast<double>(std::count_if(all.begin(), all.end(), is_odd)) /
             static_cast<double>(std::max<std::size_t>(all.size(), 1));
    };
    const bool mostly_large = all.size() >= 2 && share([](const auto& entry) {
                                                   return entry.state > kMostlyLarge;
                                                 }) > 0.5;
    const bool mostly_small =
        all.size() >= 2 && share([](const auto& entry) {
                             return entry.state > 0 && entry.state < kMostlySmall;
                           }) > 0.5;
    const double largest = mostly_large ? kMostlyLarge : kLargest;
    const double smallest = mostly_small ? kMostlySmall : kSmallest;
    std::size_t odd = 0;
    const TensorTable<double>::Entry* worst = nullptr;
    for (const auto& entry : all) {
      if (entry.state == 0 || (entry.state < largest && entry.state > smallest)) {
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
    finding.strength = worst->state > largest ? worst->state / largest : smallest / worst->state;
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

std::unique_ptr<Detector> MakeWeightsInitialScale() {
  return std::make_unique<WeightsInitialScale>();
}

}  // namespace whystop
