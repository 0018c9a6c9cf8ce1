#pragma once

#include <chrono>
#include <string_view>

#include "look/tree_look.h"
#include "watch/progress_watch.h"

namespace whystop {

enum class Standstill {
  kNone,     // It moves, however slowly.
  kStopped,  // Somebody stopped a process (SIGSTOP, Ctrl-Z, a debugger).
  kWaiting,  // Nobody computes, and every process stands where it stood.
  kSleeping,  // It sleeps and wakes in the same place, again and again.
  kBusy,     // It computes, always in the same place, and nothing comes of it.
};
std::string_view Name(Standstill standstill);

/// Two signs must agree before a run is called hung: the silence, which made us look, and what the
/// looks show. `gpu_percent` is the use of the busiest GPU.
Standstill DecideStandstill(const Stillness& seen, std::int64_t gpu_percent,
                            std::chrono::nanoseconds silence, const SilenceLimit& limit);

}  // namespace whystop
