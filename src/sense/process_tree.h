#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sense/process_watch.h"
#include "sense/subject_table.h"
#include "sense/system_sensors.h"

namespace whystop {

/// The job's processes: finds them, follows each until it ends, reports each and their sum.
class ProcessTree {
 public:
  ProcessTree(const SenseOptions& options, DescriptorBudget& budget)
      : options_(options), budget_(&budget) {}

  void Sample(std::span<const pid_t> job_pids, bool dense, Sweep& sweep);
  /// Reads PSS of the processes with the most private memory: costs milliseconds a gigabyte and
  /// holds the process's memory lock, so only near a memory limit.
  void SamplePss(Sweep& sweep);

  std::span<const VanishedProcess> vanished() const { return vanished_; }
  const std::map<pid_t, ProcessWatch>& processes() const { return processes_; }

 private:
  void DropVanished(Sweep& sweep);
  void FindNew(std::span<const pid_t> job_pids, bool every_thread, Sweep& sweep);
  void Follow(pid_t pid, Sweep& sweep);
  void AnnounceLostProbe(const ProcessWatch& process, Sweep& sweep);
  void AnnounceName(ProcessWatch& process, Sweep& sweep);
  void Report(bool slow, Sweep& sweep);
  void ReportTotals(Sweep& sweep);

  SenseOptions options_;
  bool probe_lost_ = false;  // Said once.
  DescriptorBudget* budget_;
  std::map<pid_t, ProcessWatch> processes_;
  std::vector<VanishedProcess> vanished_;
  std::optional<RunTime> last_slow_;
  std::size_t detailed_ = 0;
  std::int64_t not_detailed_ = 0;
  std::int64_t starts_left_ = 0;  // Announcements this sweep may still make.
  std::int64_t starts_dropped_ = 0;
  bool children_missing_ = false;
  // Of processes whose end no living process of the tree inherited.
  std::int64_t ended_cpu_ms_ = 0;
  std::int64_t ended_read_bytes_ = 0;
  std::int64_t ended_written_bytes_ = 0;
  std::int64_t cpu_ms_max_ = 0;
  std::array<char, 16384> buffer_{};
};

/// Every process of `proc_root` whose ancestor is in `roots`, by reading all /proc/*/stat. The slow
/// way, for kernels without the `children` files.
std::vector<pid_t> ScanDescendants(const std::string& proc_root, std::span<const pid_t> roots);

}  // namespace whystop
