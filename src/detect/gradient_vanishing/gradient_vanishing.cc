#include <cmath>
#include <memory>
#include <vector>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

constexpr std::size_t kLayersMin = 4;
constexpr std::int64_t kSamplesMin = 2;
constexpr std::int64_t kSamplesForMedian = 6;
// Four orders of magnitude between the ends: ten sigmoid layers lose six, a plain deep net with
// sound initial weights one or two.
constexpr double kDecadesMin = 4;
// At the end the last layer's own gradient has become small, where it has found the best answer to what reaches it.
constexpr double kDecadesLate = 3;

/// Gradients of the first layers are far smaller than those of the last ones.
class GradientVanishing final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || stats->what != TensorStats::What::kGradient ||
        !IsWeightMatrix(*stats) || stats->nan_count + stats->inf_count > 0) {
      return;
    }
    // The largest entry, not the mean: an embedding touches few of its rows in a batch.
    if (LogTrack* track = tensors_.Find(stats->tensor)) {
      track->Push(stats->abs_max);
      last_ = {event.at, stats->step};
    }
  }

  void Finish(FindingSink& out) override {
    std::vector<const TensorTable<LogTrack>::Entry*> layers;
    for (const auto& entry : tensors_.entries()) {
      if (entry.state.samples >= kSamplesMin &&
          entry.state.highest > std::log10(LogTrack::kLeast)) {
        layers.push_back(&entry);
      }
    }
    if (layers.size() < kLayersMin) {
      return;
    }
    // Of few samples the largest: behind an output layer that begins at zero the first gradients
    // are zero, and only those.
    const LogTrack& front = layers.front()->state;
    const double first = front.samples < kSamplesForMedian ? front.highest : front.Late();
    const double last = layers.back()->state.Late();
    const bool from_the_start = front.samples >= kSamplesForMedian && last - first >= kDecadesLate &&
                                layers.back()->state.Early() - front.Early() >= kDecadesMin;
    if (last - first < kDecadesMin && !from_the_start) {
      return;
    }
    Finding finding;
    finding.detector = "gradient/vanishing";
    finding.at = last_.at;
    finding.step_to = last_.step;
    finding.strength = (last - first) / kDecadesMin;
    finding.series = layers.front()->name;
    AddFact(finding, "first_layer", std::pow(10, first));
    AddFact(finding, "last_layer", std::pow(10, last));
    AddFact(finding, "last_layer_name", layers.back()->name);
    AddFact(finding, "ratio", std::pow(10, first - last));
    AddFact(finding, "layers", static_cast<double>(layers.size()));
    out.Add(std::move(finding));
  }

 private:
  struct Place {
    RunTime at{};
    std::int64_t step = 0;
  };
  TensorTable<LogTrack> tensors_;
  Place last_;
};

}  // namespace

std::unique_ptr<Detector> MakeGradientVanishing() { return std::make_unique<GradientVanishing>(); }

}  // namespace whystop
