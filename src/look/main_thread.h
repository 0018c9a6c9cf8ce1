#pragma once

#include <sys/types.h>

#include <optional>

#include "look/python_stacks.h"
#include "model/process_look.h"

namespace whystop {

/// The main thread of a Python process, looked at again and again: what does not change is found once.
class MainThread {
 public:
  explicit MainThread(pid_t pid) : pid_(pid), python_(pid) {}

  /// Nullopt: it is gone, or its stack cannot be read.
  std::optional<ThreadLook> Look() const;

 private:
  pid_t pid_;
  PythonProcess python_;
};

}  // namespace whystop
