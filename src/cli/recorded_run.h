#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace whystop {

/// A recording under the home, as far as its folder tells without reading it.
struct RecordedRun {
  std::string path;
  std::chrono::nanoseconds started{};  // Since 1970; of a recording without its start: when its folder was last changed.
};

/// The recordings under the home, oldest first. No link is followed.
std::vector<RecordedRun> ListRecordings();

/// Whether nobody can be writing into a recording any more, neither here nor on another machine that
/// shares the home. A job that outlived a killed whystop still writes to its rings.
bool IsFinished(const RecordedRun& run);

/// "2026-11-17 01:36", for a form of strftime.
std::string LocalTime(std::chrono::nanoseconds wall, const char* form);

/// What a recording takes on the disk, with all that is in its folder; links count as themselves.
std::int64_t BytesOnDisk(const std::string& path);

}  // namespace whystop
