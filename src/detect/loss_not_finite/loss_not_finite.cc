#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

/// A loss that became NaN or infinite. A held-out loss that recovers is left out: it says nothing
/// about training.
class LossNotFinite final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const Scalar* scalar = event.As<Scalar>();
    if (scalar == nullptr || !(IsLoss(scalar->role) || scalar->role == SeriesRole::kLossPart)) {
      return;
    }
    Series* series = table_.Find(*scalar, [&] { return Series{.role = scalar->role}; });
    if (series == nullptr) {
      return;
    }
    ++series->points;
    series->last_step = scalar->step;
    if (std::isfinite(scalar->value)) {
      series->good_since_bad = series->bad > 0 ? series->good_since_bad + 1 : 0;
      series->before_last_good = series->last_good;
      series->last_good = scalar->value;
      series->bad_run = 0;
      return;
    }
    ++series->bad_run;
    series->good_since_bad = 0;
    if (++series->bad == 1) {
      series->first_step = scalar->step;
      series->first_at = event.at;
      series->first_point = series->points;
      series->first_word = std::isnan(scalar->value) ? "nan" : scalar->value > 0 ? "inf" : "-inf";
      series->before = series->last_good;
      series->before_that = series->before_last_good;
    }
  }

  void Finish(FindingSink& out) override {
    for (const auto& [key, series] : table_.states()) {
      const bool lasting = LastsToTheEnd(series.bad, series.bad_run);
      if (series.bad == 0 || (series.role == SeriesRole::kValidationLoss && !lasting)) {
        continue;
      }
      Finding finding;
      finding.detector = "loss/not-finite";
      finding.at = series.first_at;
      finding.step_from = series.first_step;
      finding.step_to = lasting ? series.last_step : series.first_step;
      finding.strength = static_cast<double>(series.bad);
      finding.series = key.name;
      AddFact(finding, "role",
              series.role == SeriesRole::kTrainLoss  ? "train-loss"
              : series.role == SeriesRole::kLossPart ? "loss-part"
                                                     : "validation-loss");
      AddFact(finding, "first", series.first_word);
      AddFact(finding, "first_point", static_cast<double>(series.first_point));
      AddFact(finding, "not_finite", static_cast<double>(series.bad));
      AddFact(finding, "points", static_cast<double>(series.points));
      AddFact(finding, "lasting", lasting ? 1 : 0);
      if (series.before) {
        AddFact(finding, "before", *series.before);
      }
      if (series.before_that) {
        AddFact(finding, "before_that", *series.before_that);
      }
      out.Add(std::move(finding));
    }
  }

 private:
  struct Series {
    SeriesRole role = SeriesRole::kOther;
    std::int64_t points = 0;
    std::int64_t bad = 0;
    std::int64_t bad_run = 0;
    std::int64_t good_since_bad = 0;
    std::int64_t first_point = 0;
    std::optional<std::int64_t> first_step = {};
    std::optional<std::int64_t> last_step = {};
    std::string first_word = {};
    std::optional<double> last_good = {};
    std::optional<double> before_last_good = {};
    std::optional<double> before = {};
    std::optional<double> before_that = {};
    RunTime first_at{};
  };
  SeriesTable<Series> table_;
};

}  // namespace

std::unique_ptr<Detector> MakeLossNotFinite() { return std::make_unique<LossNotFinite>(); }

}  // namespace whystop
