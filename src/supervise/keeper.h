#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "supervise/channel.h"
#include "supervise/job_process.h"
#include "supervise/link.h"
#include "supervise/run_state.h"
#include "supervise/sweep_source.h"

namespace whystop {

/// What front and keeper have in common: made before the fork.
struct RunParts {
  JobPlan plan;
  RunStart start;
  RunState& state;
  std::vector<Channel>& channels;
  RecordingWriter& writer;
  SweepSource* sweeps = nullptr;
  std::string ring_directory;
  std::chrono::nanoseconds origin{};
  std::chrono::milliseconds tick{1000};
  std::vector<pid_t> other_children = {};  // Of the front's: not to be reaped by it.
};

/// Puts /dev/null in the place of one of the descriptors 0, 1 and 2.
void ReplaceByNull(int number);

/// The whole life of the keeper process: starts the job, records it, relays its output, ends with
/// _exit.
[[noreturn]] void RunKeeper(RunParts& parts, const Link& to_front);

}  // namespace whystop
