#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/verdict.h"

namespace whystop {

/// Reads a recording to its end and judges it. Also serves a recording that is still being written.
/// What the trials of `whystop try` found out is in the verdict.
Status JudgeRecording(const std::string& directory, Verdict& out);

/// The same without the trials: what the recording alone says.
Status JudgeByWatching(const std::string& directory, Verdict& out);
/// Adds what the trials say to the verdict of a recording; nothing where none was made.
void AddTrials(const std::string& directory, Verdict& verdict);

/// Whether the job of a recording is alive at this moment.
bool JobIsAlive(const std::string& directory, std::int64_t job_pid);

}  // namespace whystop
