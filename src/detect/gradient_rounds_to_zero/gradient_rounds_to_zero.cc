#include <memory>
#include <string>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

constexpr std::int64_t kSamplesMin = 3;
constexpr double kSmallestNormal = 0x1p-14;  // Of float16: what is smaller loses bits, below 2^-24 all of them.
constexpr double kZeros = 0.1;
constexpr double kOfTheSamples = 0.5;

/// Gradients of which no value is as large as the smallest normal number of 16 bits, and a part is zero: the rest of
/// it was rounded away.
class GradientRoundsToZero final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || stats->what != TensorStats::What::kGradient || !IsWeightMatrix(*stats)) {
      return;
    }
    if (Track* track = tensors_.Find(stats->tensor)) {
      const double zeros = static_cast<double>(stats->zero_count) / static_cast<double>(stats->count);
      const bool rounds = stats->nan_count + stats->inf_count == 0 && stats->abs_max < kSmallestNormal && zeros >= kZeros;
      ++track->samples;
      track->rounds += rounds ? 1 : 0;
      if (rounds && zeros < 1) {
        track->zeros = zeros;
        track->largest = stats->abs_max;
      }
      last_at_ = event.at;
      last_step_ = stats->step;
    }
  }

  void Finish(FindingSink& out) override {
    std::size_t found = 0;
    std::size_t known = 0;
    std::string worst;
    Track shown;
    for (const auto& [name, track] : tensors_.entries()) {
      if (track.samples < kSamplesMin) {
        continue;
      }
      ++known;
      // All of it zero says nothing of its size.
      if (track.largest > 0 && static_cast<double>(track.rounds) >= kOfTheSamples * static_cast<double>(track.samples)) {
        ++found;
        if (worst.empty() || track.zeros > shown.zeros) {
          worst = name;
          shown = track;
        }
      }
    }
    if (found == 0) {
      return;
    }
    Finding finding;
    finding.detector = "gradient/rounds-to-zero";
    finding.at = last_at_;
    finding.step_to = last_step_;
    finding.strength = shown.zeros;
    finding.series = worst;
    AddFact(finding, "tensors", static_cast<double>(found));
    AddFact(finding, "of", static_cast<double>(known));
    AddFact(finding, "zeros", shown.zeros);
    AddFact(finding, "largest", shown.largest);
    out.Add(std::move(finding));
  }

 private:
  struct Track {
    std::int64_t samples = 0;
    std::int64_t rounds = 0;
    double zeros = 0;  // Of the last sample that was not all zero.
    double largest = 0;
  };
  TensorTable<Track> tensors_;
  RunTime last_at_{};
  std::int64_t last_step_ = 0;
};

}  // namespace

std::unique_ptr<Detector> MakeGradientRoundsToZero() { return std::make_unique<GradientRoundsToZero>(); }

}  // namespace whystop
