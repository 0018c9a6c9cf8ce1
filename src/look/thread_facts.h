#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/process_look.h"

namespace whystop {

/// Every thread of a process as /proc tells it: name, state, CPU time, the system call it is in and
/// what that call is about. The main thread first; bounded.
std::vector<ThreadLook> ReadThreads(pid_t pid);
/// One of them; where it is gone, its state is '?'.
ThreadLook ReadThread(pid_t pid, pid_t tid);

/// A system call as /proc/PID/task/TID/syscall tells it: number and arguments. A thread that runs
/// is in none.
struct SystemCall {
  long number = -1;
  std::uint64_t arguments[6] = {};
};
bool ParseSystemCall(std::string_view text, SystemCall& out);

}  // namespace whystop
