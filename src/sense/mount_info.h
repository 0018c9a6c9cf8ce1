#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// One line of /proc/PID/mountinfo.
struct Mount {
  std::string device;  // "254:0": the same for every mount of one file system.
  std::string root;    // Which part of the file system is mounted.
  std::string mount_point;
  std::string type;    // "ext4", "cgroup2"
  std::string source;  // "/dev/vda", "server:/export"
  std::string super_options;
};

/// Lines that are not whole are left out. Escapes ("\040") are undone.
std::vector<Mount> ParseMountInfo(std::string_view text);

/// The mount that holds `path`, by its text alone: no file system is touched, so a dead one cannot
/// hang us. nullptr: `path` is not absolute.
const Mount* FindMount(const std::vector<Mount>& mounts, std::string_view path);

/// Whether `path` is `folder` or lies below it.
bool IsWithin(std::string_view path, std::string_view folder);

}  // namespace whystop
