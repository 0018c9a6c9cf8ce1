#include <algorithm>
#include <memory>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

constexpr std::int64_t kPointsMin = 10;
constexpr double kTiny = 1e-3;  // Of its highest value.
// A cosine or one-cycle schedule spends its last few hundredths down there, a linear one a
// thousandth.
constexpr double kShareMin = 0.3;

/// The learning rate fell to next to nothing long before the end of the run.
class LrDecayedEarly final : public HistoryDetector {
 protected:
  bool Wants(const Scalar& scalar) const override {
    return scalar.role == SeriesRole::kLearningRate;
  }

  void Judge(const std::string& name, const WatchedSeries& series, FindingSink& out) override {
    const auto buckets = series.history.buckets();
    if (series.history.points() < kPointsMin) {
      return;
    }
    const double highest =
        std::max_element(buckets.begin(), buckets.end(), [](const auto& a, const auto& b) {
          return a.max < b.max;
        })->max;
    std::int64_t tiny = 0;
    std::size_t from = buckets.size();
    while (from > 0 && buckets[from - 1].max < kTiny * highest) {
      tiny += buckets[--from].count;
    }
    const double share = static_cast<double>(tiny) / static_cast<double>(series.history.points());
    if (share < kShareMin || highest <= 0) {
      return;
    }
    Finding finding = About("lr/decayed-early", name, series);
    finding.step_from = buckets[from].step_from;
    finding.strength = share / kShareMin;
    AddFact(finding, "highest", highest);
    AddFact(finding, "last", series.history.last());
    AddFact(finding, "share", share);
    out.Add(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<Detector> MakeLrDecayedEarly() { return std::make_unique<LrDecayedEarly>(); }

}  // namespace whystop
