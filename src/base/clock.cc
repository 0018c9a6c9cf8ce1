#include "base/clock.h"

#include <time.h>

namespace whystop {
namespace {

std::chrono::nanoseconds Read(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

ClockReading ReadClocks() {
  return {.monotonic = Read(CLOCK_MONOTONIC),
          .boottime = Read(CLOCK_BOOTTIME),
          .wall = Read(CLOCK_REALTIME)};
}

std::chrono::nanoseconds MonotonicNow() { return Read(CLOCK_MONOTONIC); }

}  // namespace whystop
