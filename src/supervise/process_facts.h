#pragma once

#include <sys/types.h>

#include <string>

namespace whystop {

/// Names of a live (or not yet reaped) process; empty where /proc cannot be read.
struct ProcessFacts {
  std::string name;     // comm
  std::string command;  // Arguments joined by blanks, bounded.
};
ProcessFacts LookAtProcess(pid_t pid);

}  // namespace whystop
