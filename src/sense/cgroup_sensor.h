#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sense/cgroup_group.h"
#include "sense/system_sensors.h"

namespace whystop {

/// The control groups of the job's processes and all their visible ancestors. A group stays watched
/// when its processes have left it: its kill counter is what matters then.
class CgroupSensor {
 public:
  CgroupSensor(const SenseRoots& roots, DescriptorBudget& budget)
      : roots_(roots), budget_(&budget) {}

  /// Watches the groups of `pid` from now on.
  void Follow(pid_t pid) { Follow(std::to_string(pid)); }
  /// The same for a folder of /proc: a pid or "self".
  void Follow(const std::string& process);
  void Sample(Sweep& sweep);

  const std::vector<std::unique_ptr<CgroupGroup>>& groups() const { return groups_; }

 private:
  SenseRoots roots_;
  DescriptorBudget* budget_;
  std::vector<std::string> memberships_seen_;  // Texts of /proc/PID/cgroup, bounded.
  std::vector<std::unique_ptr<CgroupGroup>> groups_;
};

/// The tightest memory limit that holds for the groups: the one that decides.
std::optional<std::int64_t> SmallestMemoryLimit(
    const std::vector<std::unique_ptr<CgroupGroup>>& groups);

}  // namespace whystop
