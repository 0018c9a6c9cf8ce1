#include "sense/clock_watch.h"

namespace whystop {
namespace {

using std::chrono::nanoseconds;

// The three clocks are read one after the other; if we are put off in between they differ by that
// much. No machine suspends and resumes within 100 ms, and being put off longer is rare.
constexpr nanoseconds kSuspendMin = std::chrono::milliseconds(100);
// NTP slews by up to 0.5 ms a second and steps from 128 ms on; smaller steps harm nobody.
constexpr nanoseconds kWallJumpMin = std::chrono::seconds(1);

}  // namespace

ClockStep CompareClocks(const ClockReading& before, const ClockReading& now) {
  ClockStep step;
  step.elapsed = now.monotonic - before.monotonic;
  const nanoseconds slept = (now.boottime - now.monotonic) - (before.boottime - before.monotonic);
  step.suspended = slept >= kSuspendMin ? slept : nanoseconds(0);
  const nanoseconds moved = (now.wall - now.boottime) - (before.wall - before.boottime);
  step.wall_jump = moved >= kWallJumpMin || moved <= -kWallJumpMin ? moved : nanoseconds(0);
  return step;
}

}  // namespace whystop
