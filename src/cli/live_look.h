#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "look/tree_look.h"
#include "model/event.h"

namespace whystop {

/// A job that is alive, as it can be seen from outside by anybody: where all its processes are, what
/// they hold and what they may hold. Nothing is changed in them and they are not held up.
struct LiveLook {
  Stillness seen;
  std::chrono::nanoseconds elapsed{};           // From the first look to the last.
  std::vector<Event> sensed;                    // Two sweeps of the sensors.
  std::map<std::string, std::int64_t> limits;   // Soft limits of the first process; absent: unlimited.
};
LiveLook LookAtJob(pid_t pid, int looks, std::chrono::nanoseconds pause);

/// What the looks add to a verdict about a job that moves, as of `at`: where its processes are.
std::vector<Event> MovingEvents(const LiveLook& look, RunTime at);

/// Tree, stacks, resources and limits, for the terminal.
std::string RenderLive(const LiveLook& look);

}  // namespace whystop
