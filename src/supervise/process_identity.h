#pragma once

#include <sys/types.h>

#include <string>

namespace whystop {

/// Names of a live (or not yet reaped) process; empty where /proc cannot be read.
struct ProcessIdentity {
  std::string name;     // comm
  std::string command;  // Arguments joined by blanks, bounded.
};
ProcessIdentity LookAtProcess(pid_t pid);

/// Whether /proc knows processes by the numbers that we know them by. In a PID namespace of its own whose
/// /proc is still another's, our job's number means some other process there.
bool ProcIsOurs();

}  // namespace whystop
