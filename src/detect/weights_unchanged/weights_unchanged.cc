#include <memory>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

constexpr std::int64_t kStepsMin = 3;  // Between the first and the last look at a tensor.

/// Not one weight that was looked at moved by a single bit.
class WeightsUnchanged final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || stats->what != TensorStats::What::kWeight) {
      return;
    }
    Track* track = tensors_.Find(stats->tensor);
    if (track == nullptr) {
      return;
    }
    last_at_ = event.at;
    if (track->looks++ == 0) {
      track->first = *stats;
    }
    track->last_step = stats->step;
    const TensorStats& first = track->first;
    track->moved = track->moved || stats->sum != first.sum ||
                   stats->sum_squares != first.sum_squares || stats->min != first.min ||
                   stats->max != first.max || stats->nan_count != first.nan_count;
  }

  void Finish(FindingSink& out) override {
    std::size_t still = 0;
    std::size_t known = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
    for (const auto& [name, track] : tensors_.entries()) {
      if (track.looks < 2 || track.last_step - track.first.step < kStepsMin) {
        continue;
      }
      still += track.moved ? 0 : 1;
      from = known == 0 ? track.first.step : std::min(from, track.first.step);
      to = std::max(to, track.last_step);
      ++known;
    }
    if (known == 0 || still < known) {
      return;
    }
    Finding finding;
    finding.detector = "weights/unchanged";
    finding.at = last_at_;
    finding.step_from = from;
    finding.step_to = to;
    AddFact(finding, "tensors", static_cast<double>(known));
    AddFact(finding, "steps", static_cast<double>(to - from));
    out.Add(std::move(finding));
  }

 private:
  struct Track {
    TensorStats first = {};
    std::int64_t looks = 0;
    std::int64_t last_step = 0;
    bool moved = false;
  };
  TensorTable<Track> tensors_;
  RunTime last_at_{};
};

}  // namespace

std::unique_ptr<Detector> MakeWeightsUnchanged() { return std::make_unique<WeightsUnchanged>(); }

}  // namespace whystop
