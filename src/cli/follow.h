#pragma once

#include <string>

#include "base/result.h"
#include "model/verdict.h"

namespace whystop {

// Both tell on stderr what they find on the way. Ctrl-C asks for the verdict at once.

/// Reads a recording as it grows until its job has ended.
Result<Verdict> FollowRecording(const std::string& directory);

/// Reads a text log as it grows, until Ctrl-C: a file does not say when nobody will write to it any
/// more.
Result<Verdict> FollowLog(const std::string& path);

}  // namespace whystop
