#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/process_look.h"

namespace whystop {

/// A process at one moment, with what it takes to see whether it stands still.
struct Snapshot {
  ProcessLook look;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> marks;  // Place and variables by thread.
  std::int64_t start_ticks = 0;  // With the pid it names a process for good.
  std::int64_t cpu_ms = 0;
  std::int64_t io_bytes = 0;  // Read and written so far, whatever from and to.
  std::int64_t wakes = 0;  // How often its main thread has waited and gone on so far.
};

/// Looks at a process and all its descendants. `stack_signal` is the probe's, 0 where there is none.
std::vector<Snapshot> LookAtTree(pid_t root, int stack_signal);

/// What became of the processes of the first look: the last look at each, with what changed over
/// all of them. `elapsed` lies between the first and the last.
struct Stillness {
  std::vector<ProcessLook> processes;  // The root first.
  bool same_processes = true;  // Nobody came or went.
  double cpu_share = 0;        // Of one core, of all together.
  double cpu_s = 0;            // The same in seconds, between the first look and the last.
  std::int64_t io_bytes = 0;   // Read and written meanwhile.
  double peer_wakes = 0;       // A second, of the main thread that heard from its peer most often.
  bool always_runs = false;    // Some process wanted a processor at every look; it may not get one.
};
Stillness CompareLooks(const std::vector<std::vector<Snapshot>>& looks,
                       std::chrono::nanoseconds elapsed);

}  // namespace whystop
