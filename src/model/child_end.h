#pragma once

#include <sys/wait.h>

namespace whystop {

/// How a process ended, with nothing lost: exit code, or signal and core dump.
class ChildEnd {
 public:
  enum class Kind { kExited, kSignaled };

  static ChildEnd Exited(int code) { return {Kind::kExited, code, false}; }
  static ChildEnd Signaled(int signal, bool dumped_core = false) {
    return {Kind::kSignaled, signal, dumped_core};
  }
  static ChildEnd FromWaitStatus(int wait_status) {
    if (WIFSIGNALED(wait_status)) {
      return Signaled(WTERMSIG(wait_status), WCOREDUMP(wait_status) != 0);
    }
    return Exited(WEXITSTATUS(wait_status));
  }

  Kind kind() const { return kind_; }
  int exit_code() const { return kind_ == Kind::kExited ? number_ : -1; }
  int signal() const { return kind_ == Kind::kSignaled ? number_ : 0; }
  bool dumped_core() const { return dumped_core_; }
  /// What our own exit code must be so that a shell or scheduler sees the job's fate.
  int ShellCode() const { return kind_ == Kind::kExited ? number_ : 128 + number_; }
  bool operator==(const ChildEnd&) const = default;

 private:
  ChildEnd(Kind kind, int number, bool dumped_core)
      : kind_(kind), number_(number), dumped_core_(dumped_core) {}
  Kind kind_;
  int number_;
  bool dumped_core_;
};

}  // namespace whystop
