#include <memory>
#include <optional>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

constexpr std::int64_t kPointsMin = 5;
constexpr std::int64_t kZeroRunMin = 10;
// Schedules end at zero: that is their last point. A fifth of the run at zero is training that does
// nothing.
constexpr double kZeroShareMin = 0.2;

/// The learning rate is exactly zero for a good part of the run.
class LrZero final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const Scalar* scalar = event.As<Scalar>();
    if (scalar == nullptr || scalar->role != SeriesRole::kLearningRate) {
      return;
    }
    Series* series = table_.Find(*scalar, [] { return Series{}; });
    if (series == nullptr) {
      return;
    }
    ++series->points;
    series->last_at = event.at;
    series->last_step = scalar->step;
    if (scalar->value != 0) {
      series->zero_run = 0;
      series->ever_positive = true;
      return;
    }
    if (series->zero_run++ == 0) {
      series->zero_since = scalar->step;
    }
  }

  void Finish(FindingSink& out) override {
    for (const auto& [key, series] : table_.states()) {
      const double share =
          static_cast<double>(series.zero_run) / static_cast<double>(series.points);
      const bool always = !series.ever_positive && series.points >= kPointsMin;
      if (!always && (series.zero_run < kZeroRunMin || share < kZeroShareMin)) {
        continue;
      }
      Finding finding;
      finding.detector = "lr/zero";
      finding.at = series.last_at;
      finding.step_from = series.zero_since;
      finding.step_to = series.last_step;
      finding.strength = share / kZeroShareMin;
      finding.series = key.name;
      AddFact(finding, "points", static_cast<double>(series.zero_run));
      AddFact(finding, "share", share);
      AddFact(finding, "always", always ? 1 : 0);
      out.Add(std::move(finding));
    }
  }

 private:
  struct Series {
    std::int64_t points = 0;
    std::int64_t zero_run = 0;
    bool ever_positive = false;
    std::optional<std::int64_t> zero_since = {};
    std::optional<std::int64_t> last_step = {};
    RunTime last_at{};
  };
  SeriesTable<Series> table_;
};

}  // namespace

std::unique_ptr<Detector> MakeLrZero() { return std::make_unique<LrZero>(); }

}  // namespace whystop
