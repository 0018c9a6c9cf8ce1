#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sense/mount_info.h"
#include "sense/slow_poller.h"
#include "sense/subject_table.h"
#include "sense/system_sensors.h"

namespace whystop {

struct DiskSpace {
  std::int64_t free_bytes = 0;
  std::int64_t total_bytes = 0;
  std::optional<std::int64_t> free_inodes;  // Absent: the file system makes them as needed.
  std::optional<std::int64_t> total_inodes;
};

/// statvfs(2). Hangs while a network file system does not answer.
std::optional<DiskSpace> ReadDiskSpace(const std::string& path);

/// Files that `pid` has open for writing, by their links in /proc. Touches no file system.
std::vector<std::string> FilesOpenForWriting(const std::string& proc_root, pid_t pid);

/// The file systems that the job writes to, and those of some given paths. Each is asked by a
/// thread of its own: one dead server must not hide the others.
class DiskSensor {
 public:
  explicit DiskSensor(const SenseOptions& options) : options_(options) {}

  /// `pids` are the job's processes, its first one in front.
  void Sample(std::span<const pid_t> pids, Sweep& sweep);

  struct Watched {
    Mount mount;
    std::unique_ptr<SlowPoller<std::string, DiskSpace>> poller;
    std::optional<DiskSpace> space;
    bool stuck_announced = false;
  };
  const std::vector<Watched>& watched() const { return watched_; }

 private:
  void FindMounts(std::span<const pid_t> pids);
  void Watch(const std::vector<Mount>& mounts, const std::string& path);

  SenseOptions options_;
  std::optional<RunTime> last_look_;
  std::vector<Watched> watched_;
};

}  // namespace whystop
