#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace whystop {

inline constexpr int kHandedFd = 9;  // A plain shell can name no larger one.

/// How the program is run again, the same for all trials of a run.
struct Bench {
  std::string whystop;               // This program.
  std::vector<std::string> command;  // The user's.
  std::string directory;             // Where it was started.
  std::map<std::string, std::string> environment;  // Set on top of ours.
  std::int64_t steps_max = 0;
  std::int64_t layer_bytes_max = 0;
  std::vector<std::string> wrapper;  // Words before the command: a limit that is set for it alone.
  int handed = -1;                   // A descriptor for the wrapper, which finds it as kHandedFd.
  bool in_place = false;              // No layer: the user said so.
  bool network = false;
};

/// Files of what a model has learned: the one that the trial begins with and the one that it leaves; empty: none.
struct TrialState {
  std::string begun_with;
  std::string left;
};

/// Starts a trial that records into `folder` (made here). The returned process is its host: killing
/// it ends the whole trial, and so does the death of the calling process, whatever ends it.
Result<pid_t> StartTrial(const Bench& bench, const std::string& spec, const TrialState& state,
                         const std::string& folder);

}  // namespace whystop
