#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "model/observations.h"

namespace whystop {
namespace {

constexpr double kBatchesMin = 16;
constexpr double kLastPart = 0.25;      // Of the pass.
constexpr double kStepEachBatch = 0.95;  // With several batches a step the steps of a pass are fewer than its batches.
constexpr std::int64_t kPointsMin = 4;

/// What the loss came to before a sample came a second time: the last quarter of the first pass over the loader that trains.
class LossFirstPass final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    if (const auto* seen = event.As<Observation>()) {
      Take(*seen);
    } else if (const auto* scalar = event.As<Scalar>()) {
      Take(*scalar, event.at);
    }
  }

  void Finish(FindingSink& out) override {
    if (points_ < kPointsMin || !step_each_batch_) {
      return;
    }
    const double mean = sum_ / static_cast<double>(points_);
    Finding finding;
    finding.detector = "loss/first-pass";
    finding.at = at_;
    finding.step_to = static_cast<std::int64_t>(*batches_);
    finding.series = "loss";
    AddFact(finding, "level", mean);
    AddFact(finding, "error", std::sqrt(std::max(0.0, squares_ / static_cast<double>(points_) - mean * mean) / static_cast<double>(points_ - 1)));
    AddFact(finding, "points", static_cast<double>(points_));
    out.Add(std::move(finding));
  }

 private:
  void Take(const Observation& seen) {
    if (seen.kind == seen::Loader::kKind && !loader_ && seen.step.value_or(0) == 0) {
      const auto told = As<seen::Loader>(seen);
      loader_ = told.loader.value_or(0);
      batches_ = told.batches && static_cast<double>(*told.batches) >= kBatchesMin ? std::optional(static_cast<double>(*told.batches)) : std::nullopt;
    } else if (seen.kind == seen::Passes::kKind) {
      const auto told = As<seen::Passes>(seen);
      step_each_batch_ = told.loader == loader_ ? told.batches.value_or(0) > 0 && static_cast<double>(told.steps.value_or(0)) >=
                                                                                      kStepEachBatch * static_cast<double>(*told.batches)
                                                : step_each_batch_;
    }
  }

  void Take(const Scalar& scalar, RunTime at) {
    const bool of_training = scalar.role == SeriesRole::kTrainLoss && scalar.series == "loss";
    const double step = static_cast<double>(scalar.step.value_or(0));
    if (of_training && batches_ && step > (1 - kLastPart) * *batches_ && step <= *batches_ && std::isfinite(scalar.value)) {
      sum_ += scalar.value;
      squares_ += scalar.value * scalar.value;
      ++points_;
      at_ = at;
    }
  }

  std::optional<std::int64_t> loader_;
  std::optional<double> batches_;  // Of a pass.
  bool step_each_batch_ = false;
  double sum_ = 0;
  double squares_ = 0;
  std::int64_t points_ = 0;
  RunTime at_{};
};

}  // namespace

std::unique_ptr<Detector> MakeLossFirstPass() { return std::make_unique<LossFirstPass>(); }

}  // namespace whystop
