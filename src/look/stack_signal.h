#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"

namespace whystop {

/// One thread of a dump that Python's faulthandler wrote.
struct DumpedThread {
  bool current = false;  // The one that took the signal.
  std::vector<Frame> frames;  // Outermost first.
};
std::vector<DumpedThread> ParseStackDump(std::string_view text);

/// The second way to a stack, for systems that do not let us read memory: the probe has registered
/// a signal at which Python writes all its stacks to a file beside the ring. Nothing is sent to a
/// process that does not handle that signal, because it would die of it. Empty: no stacks.
std::vector<DumpedThread> AskForStacks(pid_t pid, int signal);

}  // namespace whystop
