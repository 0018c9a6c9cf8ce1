#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace whystop {

enum class OnHang { kReport, kStop, kRestart };

struct WatchOptions {
  std::string directory;  // The recording.
  std::optional<std::chrono::nanoseconds> hang_after;
  OnHang on_hang = OnHang::kReport;
  std::int64_t late_bytes = 0;    // How much the recorder keeps of the end of a long run...
  std::int64_t middle_bytes = 0;  // ...and how much we of what gave way before; 0: nothing.
  int tell = -1;  // Where to say that the run hangs; -1: nowhere.
};

/// What the watcher's process returns when it has ended the job because it hung.
inline constexpr int kStoppedTheJob = 3;

/// The whole life of the watcher: follows a recording that is being written, looks at the job when
/// it is silent for too long, and writes what it saw beside it. It runs in a process of its own,
/// owns nothing, and may die at any time without harm. Returns the process's exit status.
Result<int> WatchForHangs(const WatchOptions& options);

}  // namespace whystop
