#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"

namespace whystop {

/// One thread of a process, as seen from outside at one moment.
struct ThreadLook {
  std::int64_t tid = 0;
  std::string name;       // comm
  char state = '?';       // The letter of /proc: 'R', 'S', 'D', 'T', 't', 'Z'.
  std::int64_t cpu_ms = 0;  // So far.
  bool holds_gil = false;
  std::string waits_in;   // System call or kernel function: "read", "futex", "nfs_wait_bit_killable".
  std::string waits_for;  // What that call is about: "/dev/pts/3", "tcp 10.0.0.7:443"; empty: unknown.
  std::vector<Frame> frames;  // Python's, outermost first; empty: no Python runs here, or unseen.
};

/// One process of the job, as seen from outside; what changed over the looks is told with the last.
struct ProcessLook {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::string name;
  std::string command;
  char state = '?';
  std::optional<int> rank;   // Of a distributed job, by its environment.
  std::optional<int> ranks;  // How many there are.
  std::string python;       // Version of the interpreter; empty: none was found.
  std::string unseen;       // Why there are no Python stacks, where there should be.
  bool finalizing = false;  // The interpreter is shutting down.
  std::vector<ThreadLook> threads;  // The main thread first.
  // Over all looks of an episode.
  bool same_frames = false;     // Every Python thread stood at the same place in every look.
  bool same_variables = false;  // And no local variable of theirs changed.
  double cpu_share = 0;         // Of one core, between the first look and the last.

  const ThreadLook* MainThread() const { return threads.empty() ? nullptr : &threads.front(); }
};

/// The innermost frame of the user's own code; nullptr: there is none.
const Frame* InnermostOwn(const std::vector<Frame>& frames);

/// The innermost frame of a file whose path holds `part`; nullptr: there is none.
const Frame* FrameOf(const ThreadLook& thread, std::string_view part);

/// The exchange between ranks that a thread takes part in: "all_reduce", "DistributedDataParallel",
/// "backward" (which computes too). Nullopt: it is somewhere else.
std::optional<std::string> ExchangeOf(const ThreadLook& thread);

/// A compiler is at work, in this process or as this process: its name, "torch.compile", "cc1plus".
/// Nullopt: none is.
std::optional<std::string> CompilerIn(const ProcessLook& look);

/// An event loop that has nothing to do until its user asks for something: a notebook's kernel, a
/// server. No code of the user's is on its way.
bool WaitsForItsUser(const ProcessLook& look);

/// A look as the recording holds it (docs/observations.md, "look"), and back.
Observation ToObservation(const ProcessLook& look, int episode);
std::optional<ProcessLook> ToProcessLook(const Observation& seen);

}  // namespace whystop
