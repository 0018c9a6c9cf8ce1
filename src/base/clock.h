#pragma once

#include <chrono>
#include <cstdint>

namespace whystop {

/// The only reader of clocks. Everything else is given its time.
struct ClockReading {
  std::chrono::nanoseconds monotonic{};  // CLOCK_MONOTONIC: stands still while the machine sleeps.
  std::chrono::nanoseconds boottime{};   // CLOCK_BOOTTIME: goes on while the machine sleeps.
  std::chrono::nanoseconds wall{};       // CLOCK_REALTIME since 1970.
};

ClockReading ReadClocks();
std::chrono::nanoseconds MonotonicNow();

}  // namespace whystop
