#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

constexpr std::int64_t kSamplesMin = 12;
constexpr double kSecondsMin = 5;
constexpr double kGrowthBytesMin = 64.0 * 1024 * 1024;
constexpr double kGrowthShareMin = 0.1;
constexpr std::size_t kPartsInStep = 4;  // The run, without its warm-up, is cut into so many parts,
constexpr double kSlowestPartMin =
    0.4;  // and the slowest of them must grow at this share of the fastest.

/// Private memory of the whole job rises steadily while it trains. Loading and the first steps do
/// not count, nor does the page cache, which the kernel takes back.
class MemoryClimbs final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    if (const auto* progress = event.As<Progress>()) {
      training_ = training_ || progress->step.value_or(0) >= kStepsOfWarmUp;
    } else if (const auto* scalar = event.As<Scalar>()) {
      training_ = training_ || scalar->step.value_or(0) >= kStepsOfWarmUp;
    } else if (const auto* sample = event.As<Sample>()) {
      for (const Reading& reading : sample->readings) {
        Take(reading, event.at);
      }
    }
  }

  void Finish(FindingSink& out) override {
    if (points_.size() < static_cast<std::size_t>(kSamplesMin)) {
      return;
    }
    const Point& first = points_.front();
    const Point& last = points_.back();
    const double seconds = last.seconds - first.seconds;
    const double growth = last.bytes - first.bytes;
    if (seconds < kSecondsMin || growth < kGrowthBytesMin ||
        growth < kGrowthShareMin * first.bytes || !Steady()) {
      return;
    }
    Finding finding;
    finding.detector = "memory/climbs";
    finding.at = last_at_;
    finding.strength = growth / std::max(kGrowthBytesMin, kGrowthShareMin * first.bytes);
    AddFact(finding, "from_bytes", first.bytes);
    AddFact(finding, "to_bytes", last.bytes);
    AddFact(finding, "seconds", seconds);
    AddFact(finding, "bytes_per_hour", 3600 * growth / seconds);
    if (limit_bytes_) {
      AddFact(finding, "limit_bytes", *limit_bytes_);
      AddFact(finding, "hours_to_limit",
              std::max(*limit_bytes_ - last.bytes, 0.0) / (3600 * growth / seconds));
    }
    out.Add(std::move(finding));
  }

 private:
  static constexpr std::int64_t kStepsOfWarmUp = 3;
  static constexpr std::size_t kPointsMax = 512;
  struct Point {
    double seconds = 0;
    double bytes = 0;
  };

  void Take(const Reading& reading, RunTime at) {
    const auto value = static_cast<double>(reading.value);
    if (reading.quantity == Quantity::kCgroupMemoryLimitBytes) {
      limit_bytes_ = limit_bytes_ ? std::min(*limit_bytes_, value) : value;
    } else if (reading.quantity == Quantity::kHostMemTotalBytes && !limit_bytes_) {
      limit_bytes_ = value;
    } else if (reading.quantity == Quantity::kTreeAnonBytes && training_) {
      last_at_ = at;
      const double seconds = std::chrono::duration<double>(at).count();
      if (points_.empty() || seconds - points_.back().seconds >= spacing_s_) {
        points_.push_back({seconds, value});
      }
      if (points_.size() == kPointsMax) {
        Thin();
      }
    }
  }

  /// Every second point is enough from now on.
  void Thin() {
    for (std::size_t i = 0; 2 * i < points_.size(); ++i) {
      points_[i] = points_[2 * i];
    }
    points_.resize(points_.size() / 2);
    spacing_s_ =
        2 * (points_.back().seconds - points_.front().seconds) / static_cast<double>(kPointsMax);
  }

  /// A cache that fills slows down; a leak goes on as it began.
  bool Steady() const {
    double slowest = 0;
    double fastest = 0;
    for (std::size_t part = 0; part < kPartsInStep; ++part) {
      const Point& from = points_[part * (points_.size() - 1) / kPartsInStep];
      const Point& to = points_[(part + 1) * (points_.size() - 1) / kPartsInStep];
      const double rate = (to.bytes - from.bytes) / std::max(to.seconds - from.seconds, 1e-9);
      slowest = part == 0 ? rate : std::min(slowest, rate);
      fastest = part == 0 ? rate : std::max(fastest, rate);
    }
    return slowest > kSlowestPartMin * fastest;
  }

  std::vector<Point> points_;
  double spacing_s_ = 0;
  std::optional<double> limit_bytes_;
  bool training_ = false;
  RunTime last_at_{};
};

}  // namespace

std::unique_ptr<Detector> MakeMemoryClimbs() { return std::make_unique<MemoryClimbs>(); }

}  // namespace whystop
