#pragma once

#include <termios.h>

#include <optional>

#include "supervise/channel.h"

namespace whystop {

/// Gives the job's terminal the window size of the user's. True: it had changed.
bool CopyWindowSize(int users_terminal, int job_terminal);

/// Carries the modes that a full-screen program sets on its output over to the user's terminal,
/// where the keys come from. (Modes set on standard input need no help: that is the user's own
/// terminal.)
class ModeMirror {
 public:
  /// `channel` is a terminal's and must outlive this.
  explicit ModeMirror(const Channel& channel)
      : channel_(channel), job_modes_last_(channel.job_modes) {}
  /// Puts the user's terminal back as it was found, if modes were carried over to it.
  ~ModeMirror();
  ModeMirror(const ModeMirror&) = delete;
  ModeMirror& operator=(const ModeMirror&) = delete;

  /// True: the program took the terminal over or gave it back; see carried().
  bool Copy();
  bool carried() const { return carried_; }

 private:
  const Channel& channel_;
  std::optional<termios> job_modes_last_;
  bool carried_ = false;
};

}  // namespace whystop
