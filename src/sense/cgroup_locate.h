#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sense/mount_info.h"

namespace whystop {

/// One line of /proc/PID/cgroup.
struct CgroupMembership {
  std::string controllers;  // "memory", "cpu,cpuacct"; empty: the v2 hierarchy.
  std::string path;
};
std::vector<CgroupMembership> ParseProcCgroup(std::string_view text);

/// A control group as a folder that can be read here.
struct CgroupFolder {
  std::string name;  // Its path in its hierarchy, as far as it is visible.
  std::string folder;
  std::string controllers;  // Of the v1 hierarchy; empty: v2.
  int depth = 0;            // 0: the group of the process itself, 1: its parent, ...
};

/// The groups of a process and all their visible ancestors. `exists` tells whether a folder is
/// there. In a container /proc may name a path outside of what is mounted; the mounted root is then
/// the nearest group that can be seen.
std::vector<CgroupFolder> LocateCgroups(const std::vector<CgroupMembership>& memberships,
                                        const std::vector<Mount>& mounts,
                                        const std::function<bool(const std::string&)>& exists);

/// Whether the comma-separated `list` holds `word`.
bool ListHas(std::string_view list, std::string_view word);

}  // namespace whystop
