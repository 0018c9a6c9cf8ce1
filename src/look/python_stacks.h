#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/event.h"

namespace whystop {

/// One thread of a Python interpreter.
struct PythonThread {
  std::int64_t tid = 0;  // 0: not known which.
  bool holds_gil = false;
  std::vector<Frame> frames;    // Outermost first.
  std::uint64_t place = 0;      // A number that stays the same as long as the thread stands still.
  std::uint64_t variables = 0;  // A number that changes with the local variables of its frames.
};

struct PythonStacks {
  std::string version;  // "3.11"; empty: this is no Python that is known here.
  std::string unseen;   // Why there is no more to tell.
  bool finalizing = false;
  std::vector<PythonThread> threads;
};

/// The stacks of a running interpreter, CPython 3.9 to 3.14, read from outside.
PythonStacks ReadPythonStacks(pid_t pid);

/// Not from an installed package, the standard library, a frozen module or the probe.
bool IsUsersOwn(const std::string& file);

}  // namespace whystop
