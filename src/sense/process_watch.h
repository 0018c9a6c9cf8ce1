#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/reading.h"
#include "sense/kept_file.h"
#include "sense/process_parse.h"

namespace whystop {

/// What was last read of one process. Slow facts may be some seconds older than the quick ones.
struct ProcessFacts {
  std::int64_t parent_pid = 0;
  std::int64_t start_ticks = 0;
  std::int64_t threads = 0;
  std::int64_t major_faults = 0;
  std::int64_t rss_bytes = 0;
  std::int64_t cpu_user_ms = 0;
  std::int64_t cpu_system_ms = 0;
  std::int64_t cpu_reaped_ms = 0;
  ProcessStatus status;
  ProcessIo io;
  std::optional<std::int64_t> fds;
  std::optional<std::int64_t> fds_max;  // Its soft limit.
};

/// One process, followed by descriptors that stay its own when the pid is used again.
class ProcessWatch {
 public:
  /// `proc_root` is "/proc" outside tests.
  ProcessWatch(const std::string& proc_root, pid_t pid, DescriptorBudget& budget);

  /// Reads stat. False: the process is gone (or the pid is another process now).
  bool ReadQuick(std::span<char> buffer);
  /// Reads status, io and the count of descriptors.
  void ReadSlow(std::span<char> buffer);
  /// Appends the children of its main thread, or with `every_thread` of all threads: any may fork.
  void AppendChildren(bool every_thread, std::span<char> buffer, std::vector<pid_t>& children);
  std::string ReadCommandLine(std::span<char> buffer) const;
  /// A Python to which somebody has given a PYTHONPATH without `folder`.
  bool HasLostPythonPath(const std::string& folder) const;
  std::optional<std::int64_t> ReadPssBytes(std::span<char> buffer) const;

  pid_t pid() const { return pid_; }
  int sweeps() const { return sweeps_; }  // How often it was seen.
  const std::string& name() const { return name_; }
  const ProcessFacts& facts() const { return facts_; }
  /// The kernel was built without the `children` files.
  bool children_missing() const { return children_missing_; }

  SubjectId subject = 0;  // 0: not reported one by one.
  int renames = 0;

 private:
  std::string folder_;
  pid_t pid_;
  KeptFile stat_;
  KeptFile status_;
  KeptFile io_;
  KeptFile children_;
  KeptFolder fds_;
  int sweeps_ = 0;
  std::string name_;
  ProcessFacts facts_;
  bool children_missing_ = false;
};

}  // namespace whystop
