#include <map>
#include <memory>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

// NVML's reasons for a lower clock: heat (by software, by hardware), and a brake on power.
constexpr std::int64_t kHeatOrBrake = 0x8 | 0x20 | 0x40 | 0x80;
constexpr double kShareMin = 0.5;
constexpr double kSecondsMin = 60;

/// A GPU runs below its clock because of heat or power for most of the time.
class GpuThrottled final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* sample = event.As<Sample>();
    if (sample == nullptr) {
      return;
    }
    for (const Reading& reading : sample->readings) {
      if (reading.quantity == Quantity::kGpuThrottleReasons) {
        Take(gpus_[reading.subject], reading.value, event.at);
      }
    }
    last_at_ = event.at;
  }

  void Finish(FindingSink& out) override {
    for (auto [subject, gpu] : gpus_) {
      Take(gpu, gpu.reasons, last_at_);
      if (gpu.seen_s < kSecondsMin || gpu.slowed_s < kShareMin * gpu.seen_s) {
        continue;
      }
      Finding finding;
      finding.detector = "gpu/throttled";
      finding.at = last_at_;
      finding.strength = gpu.slowed_s / gpu.seen_s / kShareMin;
      AddFact(finding, "share", gpu.slowed_s / gpu.seen_s);
      AddFact(finding, "slowed_s", gpu.slowed_s);
      AddFact(finding, "reasons", static_cast<double>(gpu.reasons));
      out.Add(std::move(finding));
    }
  }

 private:
  struct Gpu {
    bool known = false;
    std::int64_t reasons = 0;
    RunTime at{};
    double seen_s = 0;
    double slowed_s = 0;
  };

  /// A value stands until the next one: what did not change is not recorded again.
  static void Take(Gpu& gpu, std::int64_t reasons, RunTime at) {
    if (gpu.known) {
      const double seconds = std::chrono::duration<double>(at - gpu.at).count();
      gpu.seen_s += seconds;
      gpu.slowed_s += (gpu.reasons & kHeatOrBrake) != 0 ? seconds : 0;
    }
    gpu = {true, reasons, at, gpu.seen_s, gpu.slowed_s};
  }

  std::map<SubjectId, Gpu> gpus_;
  RunTime last_at_{};
};

}  // namespace

std::unique_ptr<Detector> MakeGpuThrottled() { return std::make_unique<GpuThrottled>(); }

}  // namespace whystop
