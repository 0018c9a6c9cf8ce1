#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "sense/subject_table.h"

namespace whystop {

/// One record of /dev/kmsg: "6,339,5140900,-;text\n KEY=value\n".
struct KernelRecord {
  int level = 0;  // 0 emergency ... 7 debug.
  std::int64_t number = 0;
  std::chrono::microseconds at{};  // Since boot, by the kernel's own clock.
  std::string text;                // Without the dictionary lines; escapes ("\x0a") are kept.
};
std::optional<KernelRecord> ParseKernelRecord(std::string_view record);

/// Whether a kernel line can say why a process died or a machine misbehaves: out of memory,
/// crashes, GPU faults, storage and network file system errors, hung tasks, hardware errors.
bool KernelLineMatters(std::string_view text);

/// Whether `text` names `pid` as a whole number ("pid=42", "Killed process 42 (", "python[42]:").
bool MentionsPid(std::string_view text, std::int64_t pid);

/// The kernel log from the moment of opening on.
class KernelLog {
 public:
  /// `path` is "/dev/kmsg" outside tests. Reading needs root or dmesg_restrict=0.
  static Result<KernelLog> Open(const std::string& path);
  /// Announces the lines that matter, and a Drop when the kernel's buffer ran over.
  void Sample(Sweep& sweep);

 private:
  explicit KernelLog(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

/// Lines of the last `window` that matter and name one of `pids` (any pid when it is empty). `now`
/// is the time since boot. Errors mean that the log cannot be read here.
Result<std::vector<KernelRecord>> RecentKernelLines(const std::string& path,
                                                    std::chrono::microseconds now,
                                                    std::chrono::microseconds window,
                                                    const std::vector<std::int64_t>& pids);

}  // namespace whystop
