#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/follow.h"
#include "cli/process_beside.h"

namespace whystop {

int Notify(const NotifyOptions& options) {
  // A regular file is not written to: it may be the log of the job, which is followed.
  struct stat facts {};
  if (!options.quiet && ::fstat(ProcessBeside::kTellFd, &facts) == 0 && !S_ISREG(facts.st_mode)) {
    ::dup2(ProcessBeside::kTellFd, STDERR_FILENO);
  }
  ::close(ProcessBeside::kTellFd);
  Notifier notifier(options.command, options.directory);
  const auto verdict = FollowRecording(options.directory, notifier, /*aloud=*/false);
  return verdict ? 0 : kExitUsage;
}

}  // namespace whystop
