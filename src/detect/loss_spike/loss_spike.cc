#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

constexpr std::size_t kWindow = 64;
constexpr std::size_t kWindowMin = 16;  // Fewer points give no idea of the usual range.
constexpr double kDeviationsMin = 12;
constexpr std::size_t kAfterMin =
    16;  // Points after the jump, before "did not recover" can be said.

double SpreadOf(const std::vector<double>& values, double middle) {
  std::vector<double> away;
  away.reserve(values.size());
  for (const double value : values) {
    away.push_back(std::abs(value - middle));
  }
  return Median(std::move(away));
}

/// Higher than the last few. One that is not cannot be a jump, as the higher one was none: that
/// spares most of the work.
bool IsHighest(const std::deque<double>& recent, double value) {
  constexpr std::ptrdiff_t kLast = 8;
  return std::all_of(recent.end() - kLast, recent.end(),
                     [value](double before) { return before < value; });
}

/// The training loss jumped far above its recent range and never came back. Jumps that recover are
/// ordinary.
class LossSpike final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const Scalar* scalar = event.As<Scalar>();
    if (scalar == nullptr || scalar->role != SeriesRole::kTrainLoss ||
        !std::isfinite(scalar->value)) {
      return;
    }
    Series* series = table_.Find(*scalar, [] { return Series{}; });
    if (series != nullptr) {
      Take(*series, *scalar, event.at);
    }
  }

  void Finish(FindingSink& out) override {
    for (const auto& [key, series] : table_.states()) {
      if (!series.jump || series.after < kAfterMin) {
        continue;
      }
      const auto recent = std::min(series.after, series.recent.size());
      const double now =
          Median({series.recent.end() - static_cast<std::ptrdiff_t>(recent), series.recent.end()});
      const double gained = std::max(series.start - series.jump->usual, 0.0);
      const double lost = now - series.jump->usual;
      if (lost < std::max(0.4 * gained, 3 * series.jump->unit) ||
          lost < 0.2 * std::abs(series.jump->usual)) {
        continue;
      }
      Finding finding;
      finding.detector = "loss/spike";
      finding.at = series.jump->at;
      finding.step_from = series.jump->step;
      finding.step_to = series.last_step;
      finding.strength = series.jump->deviations / kDeviationsMin;
      finding.series = key.name;
      AddFact(finding, "usual_loss", series.jump->usual);
      AddFact(finding, "loss", series.jump->value);
      AddFact(finding, "loss_since", now);
      AddFact(finding, "points_since", static_cast<double>(series.after));
      out.Add(std::move(finding));
    }
  }

 private:
  struct Jump {
    double value = 0;
    double usual = 0;
    double unit = 0;
    double deviations = 0;
    std::optional<std::int64_t> step = {};
    RunTime at{};
  };
  struct Series {
    std::deque<double> recent = {};
    double start = 0;
    std::optional<Jump> jump = {};  // The highest so far.
    std::size_t after = 0;          // Points since then.
    std::optional<std::int64_t> last_step = {};
  };

  static void Take(Series& series, const Scalar& scalar, RunTime at) {
    const double value = scalar.value;
    if (series.recent.empty()) {
      series.start = value;
    }
    series.last_step = scalar.step;
    ++series.after;
    // A level that stays up wobbles: only a jump of another size is a new one.
    const bool beyond =
        !series.jump || value - series.jump->usual > 2 * (series.jump->value - series.jump->usual);
    if (beyond && series.recent.size() >= kWindowMin && IsHighest(series.recent, value)) {
      const std::vector<double> recent(series.recent.begin(), series.recent.end());
      const double usual = Median(recent);
      // A flat loss has no spread at all; the floor keeps its first wobble from counting.
      const double unit = std::max(SpreadOf(recent, usual), 0.01 * std::abs(usual));
      if (value > usual + kDeviationsMin * unit) {
        series.jump = Jump{value, usual, unit, (value - usual) / unit, scalar.step, at};
        series.after = 0;
      }
    }
    series.recent.push_back(value);
    if (series.recent.size() > kWindow) {
      series.recent.pop_front();
    }
  }

  SeriesTable<Series> table_;
};

}  // namespace

std::unique_ptr<Detector> MakeLossSpike() { return std::make_unique<LossSpike>(); }

}  // namespace whystop
