#include <memory>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

constexpr double kShareMin = 0.5;
constexpr double kSecondsMin = 60;
constexpr std::int64_t kStepsMin = 50;

/// Most of the time between two steps goes into waiting for the next batch.
class DataWaitedFor final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* scalar = event.As<Scalar>();
    if (scalar == nullptr) {
      return;
    }
    if (scalar->series == "step_s" && scalar->value > 0) {
      // The first batches wait for workers to start.
      const bool started = steps_++ >= kStepsMin / 10;
      taken_s_ += started ? scalar->value : 0;
      waited_s_ += started ? last_wait_s_ : 0;
      last_step_ = scalar->step;
      last_at_ = event.at;
      last_wait_s_ = 0;
    } else if (scalar->series == "data_wait_s" && scalar->value >= 0) {
      last_wait_s_ = scalar->value;
    }
  }

  void Finish(FindingSink& out) override {
    if (steps_ < kStepsMin || taken_s_ < kSecondsMin || waited_s_ < kShareMin * taken_s_) {
      return;
    }
    Finding finding;
    finding.detector = "data/waited-for";
    finding.at = last_at_;
    finding.step_to = last_step_;
    finding.strength = waited_s_ / taken_s_ / kShareMin;
    AddFact(finding, "share", waited_s_ / taken_s_);
    AddFact(finding, "waited_s", waited_s_);
    AddFact(finding, "steps", static_cast<double>(steps_));
    out.Add(std::move(finding));
  }

 private:
  std::int64_t steps_ = 0;
  double taken_s_ = 0;
  double waited_s_ = 0;
  double last_wait_s_ = 0;
  std::optional<std::int64_t> last_step_;
  RunTime last_at_{};
};

}  // namespace

std::unique_ptr<Detector> MakeDataWaitedFor() { return std::make_unique<DataWaitedFor>(); }

}  // namespace whystop
