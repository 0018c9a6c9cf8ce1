#include "sense/cgroup_sensor.h"

#include <unistd.h>

#include <algorithm>

namespace whystop {
namespace {

constexpr std::size_t kGroupsMax = 64;
constexpr std::size_t kMembershipsMax = 64;

/// v1 hierarchies without any file that is read here (cpuset, blkio, devices).
bool HasFacts(const CgroupFolder& folder) {
  const std::string& list = folder.controllers;
  return list.empty() || ListHas(list, "memory") || ListHas(list, "pids") || ListHas(list, "cpu") ||
         ListHas(list, "freezer");
}

}  // namespace

void CgroupSensor::Follow(const std::string& process) {
  auto text = ReadFile(roots_.proc + "/" + process + "/cgroup", 65536);
  if (!text || memberships_seen_.size() >= kMembershipsMax ||
      std::find(memberships_seen_.begin(), memberships_seen_.end(), *text) !=
          memberships_seen_.end()) {
    return;
  }
  auto mountinfo = ReadFile(roots_.proc + "/self/mountinfo");
  if (!mountinfo) {
    return;
  }
  std::vector<Mount> mounts = ParseMountInfo(*mountinfo);
  for (Mount& mount : mounts) {
    mount.mount_point = roots_.mounts + mount.mount_point;
  }
  const auto exists = [](const std::string& folder) { return ::access(folder.c_str(), F_OK) == 0; };
  for (CgroupFolder& folder : LocateCgroups(ParseProcCgroup(*text), mounts, exists)) {
    const bool known = std::any_of(groups_.begin(), groups_.end(), [&](const auto& group) {
      return group->folder().folder == folder.folder;
    });
    if (!known && HasFacts(folder) && groups_.size() < kGroupsMax) {
      groups_.push_back(std::make_unique<CgroupGroup>(std::move(folder), *budget_));
    }
  }
  memberships_seen_.push_back(std::move(*text));
}

void CgroupSensor::Sample(Sweep& sweep) {
  for (const auto& group : groups_) {
    group->Read();
    group->Report(sweep.Find({Subject::Kind::kCgroup, group->folder().name, 0}), sweep);
  }
}

std::optional<std::int64_t> SmallestMemoryLimit(
    const std::vector<std::unique_ptr<CgroupGroup>>& groups) {
  std::optional<std::int64_t> smallest;
  for (const auto& group : groups) {
    const auto limit = group->facts().memory_limit_bytes;
    if (limit && (!smallest || *limit < *smallest)) {
      smallest = limit;
    }
  }
  return smallest;
}

}  // namespace whystop
