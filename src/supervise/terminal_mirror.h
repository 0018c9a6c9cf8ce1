#pragma once

#include <sys/ioctl.h>
#include <termios.h>

#include <optional>

namespace whystop {

/// Keeps the job's pseudo-terminal and the user's terminal alike: the window's size goes to the job, and the modes
/// that a full-screen program sets on its output go to the user's terminal. (Modes set on standard input need no
/// help: that is the user's own terminal.)
class TerminalMirror {
 public:
  TerminalMirror(int users_terminal, int job_terminal);
  /// Puts the user's terminal back as it was found, if modes were carried over to it.
  ~TerminalMirror();
  TerminalMirror(const TerminalMirror&) = delete;
  TerminalMirror& operator=(const TerminalMirror&) = delete;

  /// True: the size had changed.
  bool CopySize();
  void CopyModes();

 private:
  int users_terminal_;
  int job_terminal_;
  std::optional<winsize> size_;
  std::optional<termios> users_modes_;  // As found.
  std::optional<termios> job_modes_;    // As given to the job.
  std::optional<termios> job_modes_last_;
  bool carried_ = false;
};

}  // namespace whystop
