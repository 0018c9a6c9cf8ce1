#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "import/sniff.h"
#include "model/event.h"

namespace whystop {

/// A file that a run may have left.
struct FoundFile {
  std::string path;
  FileKind kind = FileKind::kOther;
  std::int64_t size_bytes = 0;
  std::chrono::nanoseconds written{};  // Last modification, since 1970.
  bool at_once = false;  // Written in one go, as copied and unpacked files are: its age says nothing of a run.
  bool named = false;    // Given by the user, not met in a folder.
};

/// The files of one run, in the order in which they are to be read: metrics first, oldest first,
/// then text logs.
struct FoundRun {
  std::string name;  // Its folder, or its first file when several runs share a folder.
  std::vector<FoundFile> files;
};

struct FindLimits {
  int depth_max = 6;
  std::size_t files_max = 20000;  // Looked at, not only taken.
};

struct Found {
  std::vector<FoundRun> runs;        // Newest last.
  std::vector<std::string> ignored;  // Named by the user, but holding nothing known.
  bool limits_met = false;           // There was more than the limits allow.
};

/// Searches the paths (files and folders) for what runs leave, and puts together what belongs
/// together. `on_progress` is told how many files were looked at. Fails only when a named path
/// cannot be read.
Result<Found> FindRuns(const std::vector<std::string>& paths, const FindLimits& limits,
                       const std::function<void(std::size_t files_seen)>& on_progress);

/// Reads everything a run left into events: metrics, then text logs, then one TextEnd (where no
/// exit status is known). `now` is the wall time since 1970 that a file's age is counted from.
Status ReadRun(const FoundRun& run, std::chrono::nanoseconds now, EventSink& sink);

}  // namespace whystop
