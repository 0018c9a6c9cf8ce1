#include <memory>
#include <string>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

constexpr std::int64_t kSamplesMin = 3;
constexpr double kZeroShare = 0.9;
constexpr std::size_t kNamesMax = 5;

/// Tensors whose gradient is there but exactly zero, sample after sample: nothing behind them can
/// be learned.
class GradientZero final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || stats->what != TensorStats::What::kGradient || stats->count == 0) {
      return;
    }
    if (Track* track = tensors_.Find(stats->tensor)) {
      ++track->samples;
      track->zero += stats->zero_count == stats->count ? 1 : 0;
      last_at_ = event.at;
      last_step_ = stats->step;
    }
  }

  void Finish(FindingSink& out) override {
    std::size_t zero = 0;
    std::size_t known = 0;
    std::string names;
    for (const auto& [name, track] : tensors_.entries()) {
      if (track.samples < kSamplesMin) {
        continue;
      }
      ++known;
      if (static_cast<double>(track.zero) >= kZeroShare * static_cast<double>(track.samples)) {
        ++zero;
        if (zero <= kNamesMax) {
          names += (names.empty() ? "" : ", ") + name;
        }
      }
    }
    if (zero == 0) {
      return;
    }
    Finding finding;
    finding.detector = "gradient/zero";
    finding.at = last_at_;
    finding.step_to = last_step_;
    finding.strength = static_cast<double>(zero);
    finding.series = names;
    AddFact(finding, "tensors", static_cast<double>(zero));
    AddFact(finding, "of", static_cast<double>(known));
    AddFact(finding, "names", names);
    out.Add(std::move(finding));
  }

 private:
  struct Track {
    std::int64_t samples = 0;
    std::int64_t zero = 0;
  };
  TensorTable<Track> tensors_;
  RunTime last_at_{};
  std::int64_t last_step_ = 0;
};

}  // namespace

std::unique_ptr<Detector> MakeGradientZero() { return std::make_unique<GradientZero>(); }

}  // namespace whystop
