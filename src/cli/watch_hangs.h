#pragma once

#include <string>

#include "cli/options.h"
#include "cli/process_beside.h"
#include "record/recording_writer.h"

namespace whystop {

/// The process that watches a recording for hangs.
class HangWatcher {
 public:
  /// Starts it. Without it (no more processes) the run is recorded all the same.
  HangWatcher(const std::string& directory, const RunOptions& options,
              const RecordingOptions& shares);
  /// The job is over: waits for the watcher to see that, not long. True: it had ended the job itself,
  /// because it hung.
  bool Finish();
  /// There will be no job: ends it at once.
  void End() const { process_.Kill(); }
  pid_t pid() const { return process_.pid(); }

 private:
  ProcessBeside process_;
};

}  // namespace whystop
