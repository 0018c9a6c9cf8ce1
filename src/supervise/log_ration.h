#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace whystop {

/// How much of a channel's output is worth copying for the record: a burst as large as a recording keeps, whole, and of a
/// torrent so many bytes a second, for its middle is thrown away again.
class LogRation {
 public:
  static constexpr std::int64_t kBurstBytes = 40 << 20;
  static constexpr std::int64_t kBytesPerSecond = 16 << 20;
  /// Between two helpings of a torrent; each is a stretch of output without a gap.
  static constexpr std::chrono::milliseconds kPause{50};

  bool used_up() const { return left_ <= 0; }
  void Take(std::int64_t bytes) { left_ -= bytes; }
  void Refill(std::chrono::nanoseconds now) {
    const auto passed = std::min<std::chrono::nanoseconds>(now - filled_, std::chrono::seconds(10));
    left_ = std::min(kBurstBytes, left_ + kBytesPerSecond * passed.count() / 1'000'000'000);
    filled_ = now;
  }

 private:
  std::int64_t left_ = kBurstBytes;
  std::chrono::nanoseconds filled_{};
};

}  // namespace whystop
