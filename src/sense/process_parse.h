#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// What /proc/PID/stat says, in the kernel's own units.
struct ProcessStat {
  std::int64_t pid = 0;
  std::string_view name;  // Points into the parsed text.
  char state = '?';
  std::int64_t parent_pid = 0;
  std::int64_t major_faults = 0;
  std::int64_t user_ticks = 0;
  std::int64_t system_ticks = 0;
  std::int64_t reaped_ticks = 0;  // User and system time of children it has waited for.
  std::int64_t threads = 0;
  std::int64_t start_ticks = 0;  // Since boot; with the pid it names a process for good.
  std::int64_t rss_pages = 0;
};

/// Nullopt unless all of these fields are there.
std::optional<ProcessStat> ParseProcessStat(std::string_view text);

/// Of /proc/PID/status. Kernel threads and zombies have no memory lines.
struct ProcessStatus {
  std::optional<std::int64_t> anon_bytes;   // RssAnon
  std::optional<std::int64_t> shmem_bytes;  // RssShmem
  std::optional<std::int64_t> swap_bytes;   // VmSwap
};
ProcessStatus ParseProcessStatus(std::string_view text);

/// Of /proc/PID/io: what reached the storage layer.
struct ProcessIo {
  std::optional<std::int64_t> read_bytes;
  std::optional<std::int64_t> written_bytes;
};
ProcessIo ParseProcessIo(std::string_view text);

/// Pss of /proc/PID/smaps_rollup.
std::optional<std::int64_t> ParsePssBytes(std::string_view text);

/// The soft limit of "Max open files" in /proc/PID/limits. Nullopt: unlimited or unreadable.
std::optional<std::int64_t> ParseOpenFilesLimit(std::string_view text);

/// The pids of /proc/PID/task/TID/children, appended to `pids`. A number cut off by the end of the
/// buffer is not taken.
void ParseChildren(std::string_view text, std::vector<pid_t>& pids);

/// Whether /proc/PID/environ has a PYTHONPATH that holds `folder`.
bool PythonPathHolds(std::string_view environment, std::string_view folder);

/// /proc/PID/cmdline as one line of at most `length_max` bytes: NULs become blanks, control
/// characters question marks, and what may be a secret "***".
std::string ParseCommandLine(std::string_view text, std::size_t length_max);

}  // namespace whystop
