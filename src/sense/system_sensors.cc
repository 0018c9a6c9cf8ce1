#include "sense/system_sensors.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sense/cgroup_sensor.h"
#include "sense/disk_sensor.h"
#include "sense/gpu_sensor.h"
#include "sense/host_sensor.h"
#include "sense/kernel_log.h"
#include "sense/near_limit.h"
#include "sense/process_tree.h"

namespace whystop {
namespace {

// A run that dies in its first seconds (a bad configuration, a first batch too large) would be seen
// once or twice at the ordinary pace. Ten sweeps cost less than starting Python.
constexpr std::chrono::seconds kEarlyRun{2};
constexpr std::size_t kMembershipChecksMax = 64;

int OwnDescriptorBudget(int asked) {
  if (asked > 0) {
    return asked;
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 256;
  }
  constexpr rlim_t kMost = 8192;  // 5 for each process that is followed, with room to spare.
  return static_cast<int>(std::min(limit.rlim_cur / 2, kMost));
}

}  // namespace

struct SystemSensors::Parts {
  explicit Parts(const SenseOptions& wanted)
      : options(wanted),
        budget(OwnDescriptorBudget(wanted.descriptors_kept_max)),
        host(wanted.roots.proc, budget),
        tree(options, budget),
        cgroups(wanted.roots, budget),
        disks(wanted),
        gpus(wanted),
        kernel_log(KernelLog::Open(wanted.roots.dev + "/kmsg")) {}

  void FollowCgroups(std::span<const pid_t> job_pids, RunTime now);
  void SampleDisks(std::span<const pid_t> job_pids, Sweep& sweep);
  void SamplePss(Sweep& sweep);
  void SampleKernelLog(Sweep& sweep);
  void SampleSelf(Sweep& sweep);
  void WatchLimits(RunTime now);

  SenseOptions options;
  SubjectTable subjects;
  DescriptorBudget budget;
  HostSensor host;
  ProcessTree tree;
  CgroupSensor cgroups;
  DiskSensor disks;
  GpuSensor gpus;
  Result<KernelLog> kernel_log;  // From before the job on: it may crash ahead of the first sweep.
  bool kernel_log_announced = false;
  NearLimit near;
  std::optional<RunTime> groups_checked;
  std::optional<RunTime> pss_taken;
  RunTime last{};
};

void SystemSensors::Parts::FollowCgroups(std::span<const pid_t> job_pids, RunTime now) {
  // A process is mostly put into its group just after it was started; the job's own pid is always
  // asked, since its group is the one that matters most.
  constexpr int kYoungSweeps = 3;
  if (!job_pids.empty()) {
    cgroups.Follow(job_pids.front());
  }
  const bool all = !groups_checked || now - *groups_checked >= options.interval_rare;
  if (all) {
    groups_checked = now;
  }
  std::size_t checks = 0;
  for (const auto& [pid, process] : tree.processes()) {
    if ((all || process.sweeps() <= kYoungSweeps) && ++checks <= kMembershipChecksMax) {
      cgroups.Follow(pid);
    }
  }
}

void SystemSensors::Parts::SampleDisks(std::span<const pid_t> job_pids, Sweep& sweep) {
  std::vector<pid_t> pids(job_pids.begin(), job_pids.end());
  for (const auto& [pid, process] : tree.processes()) {
    if (std::find(job_pids.begin(), job_pids.end(), pid) == job_pids.end()) {
      pids.push_back(pid);
    }
  }
  disks.Sample(pids, sweep);
}

void SystemSensors::Parts::SamplePss(Sweep& sweep) {
  const RunTime now = sweep.now();
  if (near.about_memory() && (!pss_taken || now - *pss_taken >= options.interval_rare)) {
    pss_taken = now;
    tree.SamplePss(sweep);
  }
}

void SystemSensors::Parts::SampleKernelLog(Sweep& sweep) {
  if (kernel_log) {
    kernel_log->Sample(sweep);
  } else if (!std::exchange(kernel_log_announced, true)) {
    sweep.Announce(
        Observation{.kind = "sensor-unavailable",
                    .step = {},
                    .rank = {},
                    .attributes = {{"sensor", "kernel log"}, {"reason", kernel_log.error().what}}});
  }
}

void SystemSensors::Parts::SampleSelf(Sweep& sweep) {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) {
    return;
  }
  const auto ms = [](const timeval& time) { return time.tv_sec * 1000 + time.tv_usec / 1000; };
  const SubjectId self = sweep.Find({Subject::Kind::kRecorder, "", 0});
  sweep.Add(self, Quantity::kRecorderCpuMs, ms(usage.ru_utime) + ms(usage.ru_stime));
}

void SystemSensors::Parts::WatchLimits(RunTime now) {
  near.Begin(now);
  near.Watch("memory of the machine", host.memory().available_bytes, host.memory().total_bytes);
  for (const auto& group : cgroups.groups()) {
    const CgroupFacts& facts = group->facts();
    // Page cache counts as used but is given back; without its size the whole usage must do.
    const auto used = facts.anon_bytes && facts.shmem_bytes
                          ? std::optional(*facts.anon_bytes + *facts.shmem_bytes)
                          : facts.memory_bytes;
    const std::string& name = group->folder().name;
    if (used && facts.memory_limit_bytes) {
      near.Watch("memory of cgroup " + name, *facts.memory_limit_bytes - *used,
                 facts.memory_limit_bytes);
    }
    if (facts.pids && facts.pids_limit) {
      near.Watch("tasks of cgroup " + name, *facts.pids_limit - *facts.pids, facts.pids_limit);
    }
  }
  near.WatchPace("memory: swap", host.memory().swap_free_bytes);
  for (const DiskSensor::Watched& disk : disks.watched()) {
    if (!disk.space) {
      continue;
    }
    const std::string name = " of " + disk.mount.mount_point;
    if (disk.mount.type == "tmpfs") {
      near.Watch("shared memory" + name, disk.space->free_bytes, disk.space->total_bytes);
    } else {
      near.WatchPace("space" + name, disk.space->free_bytes);
    }
    near.WatchPace("inodes" + name, disk.space->free_inodes);
  }
  const ProcessFacts* fullest = nullptr;
  for (const auto& [pid, process] : tree.processes()) {
    const ProcessFacts& facts = process.facts();
    if (facts.fds && facts.fds_max &&
        (fullest == nullptr || *facts.fds_max - *facts.fds < *fullest->fds_max - *fullest->fds)) {
      fullest = &facts;
    }
  }
  if (fullest != nullptr) {
    near.Watch("descriptors of a process", *fullest->fds_max - *fullest->fds, fullest->fds_max);
  }
}

std::unique_ptr<SystemSensors> SystemSensors::Create(const SenseOptions& options) {
  return std::make_unique<SystemSensors>(std::make_unique<Parts>(options));
}

SystemSensors::SystemSensors(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SystemSensors::~SystemSensors() = default;

void SystemSensors::Sample(RunTime now, std::span<const pid_t> job_pids, std::vector<Event>& out) {
  Sweep sweep(now, parts_->subjects, out);
  const bool dense = !parts_->near.reason().empty();
  parts_->last = now;
  parts_->host.Sample(sweep);
  parts_->tree.Sample(job_pids, dense, sweep);
  parts_->FollowCgroups(job_pids, now);
  parts_->cgroups.Sample(sweep);
  parts_->SampleDisks(job_pids, sweep);
  parts_->gpus.Sample(
      [this](std::int64_t pid) {
        return parts_->tree.processes().contains(static_cast<pid_t>(pid));
      },
      sweep);
  parts_->WatchLimits(now);
  parts_->SamplePss(sweep);
  parts_->SampleKernelLog(sweep);
  parts_->SampleSelf(sweep);
  sweep.Finish();
}

std::span<const VanishedProcess> SystemSensors::vanished() const { return parts_->tree.vanished(); }

std::chrono::milliseconds SystemSensors::NextInterval() const {
  const bool early = parts_->last < kEarlyRun;
  return early || !parts_->near.reason().empty() ? parts_->options.interval_dense
                                                 : parts_->options.interval;
}

const std::string& SystemSensors::dense_reason() const { return parts_->near.reason(); }

SubjectTable& SystemSensors::subjects() { return parts_->subjects; }

}  // namespace whystop
