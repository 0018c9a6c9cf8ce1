#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace whystop {

/// Where recordings live: $WHYSTOP_HOME, or else whystop/ in the XDG state folder.
std::string HomeOfRecordings();

/// A folder for a new run, made by this call alone: <home>/20261115-221500-7f3a. `attempt`: how many
/// names were taken.
Result<std::string> NewRecordingPath(int attempt);

/// Points <home>/latest at a recording, best effort.
void RememberLatest(const std::string& directory);

/// What the user called a recording: a path, or the id of one under the home, or so much of its
/// beginning or of its last parts ("7f3a") that no other is meant. Empty argument: the newest.
/// Nullopt: no recording is called so. An error: several are.
Result<std::optional<std::string>> FindRecording(const std::string& name);

/// The folder with our sitecustomize for Python jobs: in the build folder or where it was
/// installed; empty: not there.
std::string PythonBootstrap();

/// The last part of a path.
std::string LastPart(const std::string& path);

}  // namespace whystop
