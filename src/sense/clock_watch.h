#pragma once

#include <chrono>

#include "base/clock.h"

namespace whystop {

/// What happened to the clocks between two readings.
struct ClockStep {
  std::chrono::nanoseconds elapsed{};    // While the machine was awake.
  std::chrono::nanoseconds suspended{};  // The machine slept; zero below the noise of reading.
  std::chrono::nanoseconds wall_jump{};  // The wall clock was set, forward or back; zero below 1 s.
};

/// CLOCK_BOOTTIME runs on while the machine sleeps and CLOCK_MONOTONIC does not; what the wall
/// clock moved beyond CLOCK_BOOTTIME was set by somebody.
ClockStep CompareClocks(const ClockReading& before, const ClockReading& now);

}  // namespace whystop
