#pragma once

#include "base/fd.h"

namespace whystop {

/// Takes the keys typed at the user's terminal to the job's pseudo-terminal. Programs read keys
/// from standard input or /dev/tty, which are the user's own terminal and need no help. But some,
/// `less` among them, open the terminal that their output goes to by its name: for as long as such
/// a one runs, its keys are brought there.
class KeyPump {
 public:
  /// Has some process of this session opened the job's terminal anew for reading? To be asked when
  /// a program changed the terminal's modes; until then nobody reads keys there.
  static bool IsNeeded(int job_terminal);

  explicit KeyPump(int job_terminal);
  int fd() const { return users_terminal_.get(); }
  /// Moves what was typed. False: there is nothing more to come.
  bool Pump() const;

 private:
  Fd users_terminal_;
  int job_terminal_;
};

}  // namespace whystop
