#pragma once

#include <termios.h>

#include <optional>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "record/recording_writer.h"

namespace whystop {

/// One way of the job's output to the user: made before the fork, so that front and keeper both
/// hold its descriptors.
struct Channel {
  enum class Kind {
    kPipe,      // job -> pipe -> user
    kTerminal,  // job -> pseudo-terminal -> pipe -> user's terminal
    kFile,      // The job writes to the user's regular file itself; we follow the file.
  };
  Kind kind = Kind::kPipe;
  LogStream stream = LogStream::kStdout;
  bool carries[3] = {false, false, false};  // Which of the job's descriptors 1 and 2 go here.

  Fd user;     // The user's own output, close-on-exec. kFile: only where the job overwrites, to see
               // how far.
  Fd job_end;  // What the job writes to: pipe or terminal. Closed by us once the job has it.
  Fd pipe_read;   // kPipe, kTerminal: what waits here is not lost when one of us is killed.
  Fd pipe_write;  // kTerminal only.
  Fd terminal;    // kTerminal: our side of the pseudo-terminal.
  // kTerminal: the modes at the start, of the user's terminal and as given to the job.
  std::optional<termios> user_modes;
  std::optional<termios> job_modes;
  Fd file;  // kFile: the same file, opened for reading.

  bool open() const { return static_cast<bool>(pipe_read) || static_cast<bool>(file); }
  /// Lets go of everything, so that the job and the user see this output closed.
  void Close();
};

/// Looks at this process's descriptors 1 and 2 and makes the channels they need: none for a closed
/// one, one for both where they are the same.
Result<std::vector<Channel>> MakeChannels();

}  // namespace whystop
