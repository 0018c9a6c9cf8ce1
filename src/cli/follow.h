#pragma once

#include <string>

#include "base/result.h"
#include "cli/notifier.h"
#include "model/verdict.h"

namespace whystop {

// They tell on stderr what they find on the way, and the notifier how the run stands. Ctrl-C asks for
// the verdict at once.

/// Reads a recording as it grows until its job has ended. Not `aloud`: the notifier alone is told.
Result<Verdict> FollowRecording(const std::string& directory, Notifier& notifier,
                                bool aloud = true);

/// The same on a terminal: shows how the run stands, as `top` does, until it has ended or the user
/// wants the verdict.
Status WatchRecording(const std::string& directory, Notifier& notifier);

/// Reads a text log as it grows, until Ctrl-C: a file does not say when nobody will write to it any
/// more.
Result<Verdict> FollowLog(const std::string& path, Notifier& notifier);

}  // namespace whystop
