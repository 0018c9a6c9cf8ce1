#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "look/python_layout.h"
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

/// A running interpreter, CPython 3.9 to 3.15, as seen from outside. Where its things stand is
/// found once; each reading of the stacks is fresh.
class PythonProcess {
 public:
  explicit PythonProcess(pid_t pid);

  PythonStacks ReadStacks() const;
  /// The stack of its main thread alone, outermost first; empty: nothing could be read.
  std::vector<Frame> ReadMainStack() const;

 private:
  PythonStacks Read(bool all_threads) const;

  pid_t pid_;
  std::uint64_t runtime_ = 0;  // Where _PyRuntime stands; 0: this is no Python that is known here.
  std::optional<int> minor_;   // The version that the names of its files tell.
  std::optional<PythonLayout> layout_;
  int fault_ = 0;  // Why there is no layout: errno of the read.
};

/// Not from an installed package, the standard library, a frozen module or the probe.
bool IsUsersOwn(const std::string& file);

}  // namespace whystop
