#include <algorithm>
#include <memory>
#include <optional>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

// A scaler starts far too high on purpose and halves its way down; below 1 it would shrink
// gradients, which no sound run needs. A third of all steps refused, up to the last third of the
// run, is no search for the right scale either.
constexpr double kScaleFloor = 1;
constexpr double kSkippedShareMin = 0.3;
constexpr std::int64_t kLastPart = 3;  // The last refusal must lie in the last third.
constexpr std::int64_t kStepsMin = 10;

/// The dynamic loss scale falls and falls: almost every step overflows and is thrown away.
class ScaleKeepsFalling final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const Scalar* scalar = event.As<Scalar>();
    if (scalar == nullptr) {
      return;
    }
    if (scalar->role == SeriesRole::kLossScale) {
      name_ = scalar->series;
      first_ = first_ ? first_ : scalar->value;
      falls_ += last_ && scalar->value < *last_ ? 1 : 0;
      lowest_ = lowest_ ? std::min(*lowest_, scalar->value) : scalar->value;
      last_ = scalar->value;
      last_at_ = event.at;
      last_step_ = scalar->step;
    } else if (scalar->series == "step_skipped") {
      skipped_ += scalar->value != 0 ? 1 : 0;
      last_skip_ = scalar->value != 0 ? steps_ : last_skip_;
    } else if (scalar->role == SeriesRole::kLearningRate) {
      ++steps_;
    }
  }

  void Finish(FindingSink& out) override {
    const double share =
        steps_ > 0 ? static_cast<double>(skipped_) / static_cast<double>(std::max(steps_, skipped_))
                   : 0;
    const bool at_floor = last_ && *last_ < kScaleFloor && *last_ <= *lowest_ && falls_ >= 3;
    const bool skips_on = std::max(steps_, skipped_) >= kStepsMin && share >= kSkippedShareMin &&
                          falls_ >= 3 && steps_ - last_skip_ <= steps_ / kLastPart;
    if (!at_floor && !skips_on) {
      return;
    }
    Finding finding;
    finding.detector = "scale/keeps-falling";
    finding.at = last_at_;
    finding.step_to = last_step_;
    finding.strength = std::max(share / kSkippedShareMin, 1.0);
    finding.series = name_;
    AddFact(finding, "first", first_.value_or(0));
    AddFact(finding, "last", last_.value_or(0));
    AddFact(finding, "falls", static_cast<double>(falls_));
    AddFact(finding, "skipped", static_cast<double>(skipped_));
    AddFact(finding, "skipped_share", share);
    out.Add(std::move(finding));
  }

 private:
  std::string name_;
  std::optional<double> first_;
  std::optional<double> last_;
  std::optional<double> lowest_;
  std::int64_t falls_ = 0;
  std::int64_t skipped_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t last_skip_ = 0;  // Steps that had been made by then.
  std::optional<std::int64_t> last_step_;
  RunTime last_at_{};
};

}  // namespace

std::unique_ptr<Detector> MakeScaleKeepsFalling() { return std::make_unique<ScaleKeepsFalling>(); }

}  // namespace whystop
