#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/event.h"
#include "sense/subject_table.h"

namespace whystop {

/// Where the sensors look. Tests point these at fake roots.
struct SenseRoots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
  std::string mounts;  // Put before every mount point found in mountinfo; empty outside tests.
};

struct SenseOptions {
  SenseRoots roots;
  std::vector<std::string> watched_paths;  // File systems to watch besides those the job writes to.
  std::chrono::milliseconds interval{1000};
  std::chrono::milliseconds interval_dense{200};   // Near a limit, and in the first seconds.
  std::chrono::milliseconds interval_slow{5000};   // status, io and descriptor counts of a process.
  std::chrono::milliseconds interval_rare{10000};  // Which files the job has open for writing.
  std::chrono::milliseconds poll_timeout{5000};  // After this a silent disk or GPU counts as stuck.
  std::size_t processes_max = 512;  // Reported one by one; the others only in the tree's totals.
  int descriptors_kept_max = 0;     // 0: half of this process's own soft limit.
  bool gpu = true;
  std::string probe_folder;  // What PYTHONPATH must hold for the probe to be loaded; empty: it is not wanted.
};

/// A process of the tree that is no longer there. Who reaped it and how it ended is not known here.
struct VanishedProcess {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::string name;
};

/// All sensors together: one sweep a call. Not thread-safe: one thread calls it. It starts threads
/// of its own (file systems, GPU libraries: calls that may hang) at the first `Sample`, so a
/// process may fork until then. Nothing here fails: what cannot be read is not reported.
class SystemSensors {
 public:
  struct Parts;  // Known to the source file only.
  static std::unique_ptr<SystemSensors> Create(const SenseOptions& options);
  explicit SystemSensors(std::unique_ptr<Parts> parts);
  ~SystemSensors();
  SystemSensors(const SystemSensors&) = delete;
  SystemSensors& operator=(const SystemSensors&) = delete;

  /// Appends SubjectSeen, ProcessStart, KernelLine, Drop and Observation ("sensor-unavailable")
  /// events, then one Sample. `job_pids` are the job's process first, then processes that were
  /// reparented to the caller; their descendants are found, and a process once found is followed
  /// until it ends. A process that changes its name (exec) is announced again with the same
  /// subject id.
  void Sample(RunTime now, std::span<const pid_t> job_pids, std::vector<Event>& out);

  /// Processes that were there at the sweep before the last one and are not any more.
  std::span<const VanishedProcess> vanished() const;

  /// When to come again: `interval`, or `interval_dense` near a limit or early in the run.
  std::chrono::milliseconds NextInterval() const;
  /// What made the interval dense ("memory of cgroup /job"), or empty.
  const std::string& dense_reason() const;

  /// For the caller's own readings (Subject::Kind::kRecorder), so that ids do not collide.
  SubjectTable& subjects();

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace whystop
