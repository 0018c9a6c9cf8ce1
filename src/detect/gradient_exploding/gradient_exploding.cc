#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/tensor_table.h"

namespace whystop {
namespace {

// A level a hundred times that of the start, held over several samples; or a peak ten thousand
// times as high. Single spikes of a hundredfold occur in healthy recurrent nets and language
// models.
constexpr double kLevelDecades = 2;
constexpr double kPeakDecades = 4;

/// Gradients grew by orders of magnitude.
class GradientExploding final : public HistoryDetector {
 public:
  void Push(const Event& event, FindingSink& out) override {
    HistoryDetector::Push(event, out);
    const auto* stats = event.As<TensorStats>();
    if (stats == nullptr || stats->what != TensorStats::What::kGradient) {
      return;
    }
    if (Track* track = tensors_.Find(stats->tensor)) {
      last_at_ = event.at;
      first_step_ = first_step_ ? first_step_ : stats->step;
      last_step_ = stats->step;
      if (stats->nan_count + stats->inf_count > 0) {
        ++track->not_finite;
      } else if (stats->abs_max > 0) {
        track->rms.Push(RmsOf(*stats));
      }
    }
  }

  void Finish(FindingSink& out) override {
    std::vector<double> levels;
    std::vector<double> peaks;
    std::vector<double> starts;
    const TensorTable<Track>::Entry* worst = nullptr;
    std::int64_t not_finite = 0;
    for (const auto& entry : tensors_.entries()) {
      const LogTrack& rms = entry.state.rms;
      not_finite += entry.state.not_finite;
      if (rms.samples < 2) {
        continue;
      }
      starts.push_back(rms.first[0]);
      levels.push_back(rms.Late() - rms.Early());  // 0 up to eight samples: they are the same.
      peaks.push_back(rms.highest - rms.first[0]);
      if (worst == nullptr || rms.highest > worst->state.rms.highest) {
        worst = &entry;
      }
    }
    const double level = Median(levels);
    const double peak = Median(peaks);
    if (worst != nullptr && (level > kLevelDecades || peak > kPeakDecades)) {
      Finding finding;
      finding.detector = "gradient/exploding";
      finding.at = last_at_;
      finding.step_from = first_step_;
      finding.step_to = last_step_;
      finding.strength = std::max(level / kLevelDecades, peak / kPeakDecades);
      finding.series = worst->name;
      AddFact(finding, "from", std::pow(10, Median(starts)));
      AddFact(finding, "to", std::pow(10, Median(starts) + std::max(level, peak)));
      AddFact(finding, "factor", std::pow(10, std::max(level, peak)));
      AddFact(finding, "not_finite", static_cast<double>(not_finite));
      out.Add(std::move(finding));
      return;
    }
    HistoryDetector::Finish(out);
  }

 protected:
  bool Wants(const Scalar& scalar) const override {
    return scalar.role == SeriesRole::kGradientNorm;
  }

  void Judge(const std::string& name, const WatchedSeries& series, FindingSink& out) override {
    if (series.history.points() < 5) {
      return;
    }
    const SeriesShape shape = ShapeOf(series.history);
    std::vector<double> early(
        shape.levels.begin(),
        shape.levels.begin() +
            static_cast<std::ptrdiff_t>(std::max<std::size_t>(shape.levels.size() / 4, 2)));
    const double usual = Median(std::move(early));
    const double highest = shape.worst;
    if (usual <= 0 || std::log10(highest / usual) < kLevelDecades) {
      return;
    }
    Finding finding = About("gradient/exploding", name, series);
    finding.strength = std::log10(highest / usual) / kLevelDecades;
    AddFact(finding, "from", usual);
    AddFact(finding, "to", highest);
    AddFact(finding, "factor", highest / usual);
    AddFact(finding, "not_finite", static_cast<double>(series.history.not_finite()));
    out.Add(std::move(finding));
  }

 private:
  struct Track {
    LogTrack rms = {};
    std::int64_t not_finite = 0;
  };
  TensorTable<Track> tensors_;
  std::optional<std::int64_t> first_step_;
  std::optional<std::int64_t> last_step_;
  RunTime last_at_{};
};

}  // namespace

std::unique_ptr<Detector> MakeGradientExploding() { return std::make_unique<GradientExploding>(); }

}  // namespace whystop
