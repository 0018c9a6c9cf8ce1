#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace whystop {

/// A process of whystop beside a job: ours, but neither the job's parent nor needed by anybody. It
/// lives in a session of its own, so that Ctrl-C does not reach it, and its standard descriptors are
/// /dev/null: what a loader or a library may have to complain about does not belong between the lines
/// of the job.
class ProcessBeside {
 public:
  /// Where such a process finds the user's stderr.
  static constexpr int kTellFd = 3;

  /// Starts this program anew. Where that is refused, `pid()` is below 0 and all else does nothing.
  explicit ProcessBeside(const std::vector<std::string>& arguments);

  pid_t pid() const { return pid_; }
  /// Waits for its end, at most so long. Its exit status; nullopt: it is still there, or was killed.
  std::optional<int> EndsWithin(int patience_ms);
  /// Ends it at once.
  void Kill() const;

 private:
  pid_t pid_ = -1;
  Fd process_;  // pidfd; a pid alone could come to mean another process.
};

}  // namespace whystop
