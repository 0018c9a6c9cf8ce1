#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "cli/options.h"
#include "record/recording_writer.h"

namespace whystop {

/// The process that watches a recording for hangs: ours, but neither the job's parent nor needed by
/// anybody. It lives in a session of its own, so that Ctrl-C does not reach it.
class HangWatcher {
 public:
  /// Starts it. Without it (no more processes) the run is recorded all the same.
  HangWatcher(const std::string& directory, const RunOptions& options,
              const RecordingOptions& shares);
  /// The job is over: waits for the watcher to see that, not long. True: it had ended the job itself,
  /// because it hung.
  bool Finish();
  /// There will be no job: ends it at once.
  void End() const;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  Fd process_;  // pidfd; a pid alone could come to mean another process.
};

}  // namespace whystop
