#include "sense/cgroup_locate.h"

#include <optional>

#include "sense/proc_text.h"

namespace whystop {
namespace {

constexpr int kDepthMax = 16;

bool Serves(const Mount& mount, const CgroupMembership& member) {
  if (member.controllers.empty()) {
    return mount.type == "cgroup2";
  }
  const std::string_view first =
      std::string_view(member.controllers).substr(0, member.controllers.find(','));
  return mount.type == "cgroup" && ListHas(mount.super_options, first);
}

std::string WithoutLastPart(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

/// The path of `member` below the mount ("" for the mount's own root), or nullopt when it lies
/// outside of what is mounted.
std::optional<std::string> BelowMount(const Mount& mount, const CgroupMembership& member) {
  // "/../other": the process is in a group outside of our control group namespace.
  if (member.path.starts_with("/..") || !IsWithin(member.path, mount.root)) {
    return std::nullopt;
  }
  std::string below = mount.root == "/" ? member.path : member.path.substr(mount.root.size());
  return below == "/" ? "" : below;
}

std::string NameOf(const Mount& mount, const std::string& below) {
  if (mount.root == "/" || mount.root.starts_with("/..")) {
    return below.empty() ? "/" : below;
  }
  return mount.root + below;
}

}  // namespace

bool ListHas(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word) {
      return true;
    }
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

// "4:memory:/user.slice", "0::/user.slice/session-2.scope". A controller list may hold a colon only
// as "name=systemd", the path anything.
std::vector<CgroupMembership> ParseProcCgroup(std::string_view text) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::vector<CgroupMembership> out;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos || line.substr(second + 1, 1) != "/") {
      continue;
    }
    std::string_view path = line.substr(second + 1);
    if (path.ends_with(kDeleted)) {
      path.remove_suffix(kDeleted.size());
    }
    out.push_back({std::string(line.substr(first + 1, second - first - 1)), std::string(path)});
  }
  return out;
}

std::vector<CgroupFolder> LocateCgroups(const std::vector<CgroupMembership>& memberships,
                                        const std::vector<Mount>& mounts,
                                        const std::function<bool(const std::string&)>& exists) {
  std::vector<CgroupFolder> out;
  for (const CgroupMembership& member : memberships) {
    const Mount* chosen = nullptr;
    std::string below;
    for (const Mount& mount : mounts) {
      if (!Serves(mount, member)) {
        continue;
      }
      const auto path = BelowMount(mount, member);
      if (path && exists(mount.mount_point + *path)) {
        chosen = &mount;
        below = *path;
        break;
      }
      if (chosen == nullptr && exists(mount.mount_point)) {
        chosen = &mount;
      }
    }
    for (int depth = 0; chosen != nullptr && depth < kDepthMax; ++depth) {
      out.push_back(
          {NameOf(*chosen, below), chosen->mount_point + below, member.controllers, depth});
      if (below.empty()) {
        break;
      }
      below = WithoutLastPart(below);
      below = below == "/" ? "" : below;
    }
  }
  return out;
}

}  // namespace whystop
