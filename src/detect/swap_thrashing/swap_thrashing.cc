#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

constexpr std::int64_t kStalledMin =
    2000;  // Hundredths of a percent: a fifth of the time everything waits for memory.
constexpr std::int64_t kSamplesMin = 5;

/// The machine or a control group of the job pages: tasks wait for memory while pages are read back from swap.
class SwapThrashing final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* sample = event.As<Sample>();
    if (sample == nullptr) {
      return;
    }
    for (const Reading& reading : sample->readings) {
      if (reading.quantity == Quantity::kPressureMemoryFull) {
        longest_ = std::max(longest_, RunWith(reading));
        highest_ = std::max(highest_, reading.value);
        last_at_ = event.at;
      } else if (reading.quantity == Quantity::kHostSwapInPages) {
        first_pages_ = first_pages_ ? first_pages_ : reading.value;
        last_pages_ = reading.value;
      }
    }
  }

  void Finish(FindingSink& out) override {
    const std::int64_t pages = first_pages_ ? last_pages_ - *first_pages_ : 0;
    if (longest_ < kSamplesMin || pages <= 0) {
      return;
    }
    Finding finding;
    finding.detector = "swap/thrashing";
    finding.at = last_at_;
    finding.strength = static_cast<double>(highest_) / static_cast<double>(kStalledMin);
    AddFact(finding, "stalled_share", static_cast<double>(highest_) / 10000);
    AddFact(finding, "samples", static_cast<double>(longest_));
    AddFact(finding, "pages_read_back", static_cast<double>(pages));
    out.Add(std::move(finding));
  }

 private:
  /// How many samples in a row the machine, or one control group, has waited now. Each for itself:
  /// where others compute, only the job's own group shows it.
  std::int64_t RunWith(const Reading& reading) {
    constexpr std::size_t kSubjectsMax = 256;
    if (runs_.size() >= kSubjectsMax && !runs_.contains(reading.subject)) {
      return 0;
    }
    std::int64_t& run = runs_[reading.subject];
    run = reading.value >= kStalledMin ? run + 1 : 0;
    return run;
  }

  std::map<SubjectId, std::int64_t> runs_;
  std::int64_t longest_ = 0;
  std::int64_t highest_ = 0;
  std::optional<std::int64_t> first_pages_;
  std::int64_t last_pages_ = 0;
  RunTime last_at_{};
};

}  // namespace

std::unique_ptr<Detector> MakeSwapThrashing() { return std::make_unique<SwapThrashing>(); }

}  // namespace whystop
