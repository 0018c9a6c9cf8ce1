#include "sense/surroundings.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/human.h"
#include "sense/cgroup_sensor.h"
#include "sense/disk_sensor.h"
#include "sense/gpu_sensor.h"
#include "sense/kernel_log.h"
#include "sense/proc_text.h"
#include "sense/surroundings_parts.h"

namespace whystop {
namespace {

using State = SurroundingFact::State;

void AddMemory(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  const auto text = ReadFile(input.roots.proc + "/meminfo");
  const HostMemory memory = text ? ParseMeminfo(*text) : HostMemory{};
  if (!memory.total_bytes) {
    out.push_back({"memory", "unknown", State::kUnavailable, "/proc/meminfo cannot be read"});
    return;
  }
  out.push_back(
      {"memory",
       fmt::format(
           "{} available of {}",
           memory.available_bytes ? HumanBytes(static_cast<double>(*memory.available_bytes)) : "?",
           HumanBytes(static_cast<double>(*memory.total_bytes))),
       State::kOk, ""});
  const std::int64_t swap = memory.swap_total_bytes.value_or(0);
  out.push_back({"swap", swap == 0 ? "none" : HumanBytes(static_cast<double>(swap)), State::kOk,
                 swap == 0 ? "without swap the kernel kills as soon as memory is used up" : ""});
}

void AddCgroups(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  DescriptorBudget budget(0);
  CgroupSensor sensor(input.roots, budget);
  sensor.Follow("self");
  bool v1 = false;
  bool v2 = false;
  std::optional<std::pair<std::int64_t, std::string>> memory;
  std::optional<std::pair<std::int64_t, std::string>> pids;
  bool counted = false;
  for (const auto& group : sensor.groups()) {
    group->Read();
    const CgroupFacts& facts = group->facts();
    const bool unified = group->folder().controllers.empty();
    v1 = v1 || !unified;
    v2 = v2 || unified;
    counted = counted || facts.oom_kills.has_value();
    if (facts.memory_limit_bytes && (!memory || *facts.memory_limit_bytes < memory->first)) {
      memory = {*facts.memory_limit_bytes, group->folder().name};
    }
    if (facts.pids_limit && (!pids || *facts.pids_limit < pids->first)) {
      pids = {*facts.pids_limit, group->folder().name};
    }
  }
  const bool any = !sensor.groups().empty();
  out.push_back({"control groups",
                 !any ? "none visible"
                 : v1 ? (v2 ? "v1, with a v2 tree beside it" : "v1")
                      : "v2",
                 any ? State::kOk : State::kUnavailable,
                 any ? "" : "memory limits of a container or scheduler cannot be seen"});
  out.push_back({"out-of-memory counter", counted ? "readable" : "not readable",
                 counted ? State::kOk : State::kUnavailable,
                 counted ? "" : "kills by a group's limit are known by the kernel log only"});
  out.push_back({"memory limit",
                 memory
                     ? fmt::format("{} by cgroup {}",
                                   HumanBytes(static_cast<double>(memory->first)), memory->second)
                     : "none",
                 memory ? State::kLimited : State::kOk,
                 memory ? "page cache and /dev/shm count towards it" : ""});
  out.push_back({"task limit",
                 pids ? fmt::format("{} by cgroup {}", pids->first, pids->second) : "none",
                 pids ? State::kLimited : State::kOk, pids ? "counts threads, not processes" : ""});
}

void AddDisk(const std::string& name, const std::string& path, const SurroundingsInput& input,
             std::vector<SurroundingFact>& out) {
  if (path.empty()) {
    return;
  }
  using Poller = SlowPoller<std::string, DiskSpace>;
  Poller poller(&ReadDiskSpace, input.roots.mounts + path, Poller::Pace{});
  const auto space = poller.WaitForFirst();
  if (!space) {
    out.push_back({name, "no answer", State::kUnavailable,
                   path + " is missing, or its file system does not answer"});
    return;
  }
  const bool low = space->free_bytes < space->total_bytes / 20 ||
                   (space->free_inodes && *space->free_inodes < *space->total_inodes / 20);
  out.push_back(
      {name,
       fmt::format("{} free of {} at {}", HumanBytes(static_cast<double>(space->free_bytes)),
                   HumanBytes(static_cast<double>(space->total_bytes)), path),
       low ? State::kLimited : State::kOk,
       low ? "less than 5 % of the bytes or inodes are free" : ""});
}

void AddGpus(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  if (!input.gpu) {
    return;
  }
  GpuPoller nvidia(NvmlPoll(), std::monostate{}, {});
  GpuPoller amd(AmdPoll(input.roots.sys), std::monostate{}, {});
  auto report = nvidia.WaitForFirst();
  const bool hangs = !report && nvidia.asking();
  if (!report) {
    report = amd.WaitForFirst();
  }
  if (hangs) {
    out.push_back({"GPU", "the NVIDIA driver does not answer", State::kUnavailable,
                   "nvidia-smi will hang as well; the machine may need a reset"});
  } else if (!report) {
    out.push_back({"GPU", "no driver library", State::kUnavailable,
                   "libnvidia-ml.so.1 is not found and there is no amdgpu card"});
  } else if (!report->fault.empty()) {
    out.push_back({"GPU", report->fault, State::kUnavailable, "see what nvidia-smi says"});
  } else {
    out.push_back(
        {"GPU", fmt::format("{} by {}", report->gpus.size(), report->driver), State::kOk, ""});
    for (const GpuFacts& gpu : report->gpus) {
      out.push_back({fmt::format("GPU {}", gpu.index),
                     fmt::format("{} {} used of {}", gpu.name.empty() ? gpu.uuid : gpu.name,
                                 gpu.memory_used_bytes
                                     ? HumanBytes(static_cast<double>(*gpu.memory_used_bytes))
                                     : "?",
                                 gpu.memory_total_bytes
                                     ? HumanBytes(static_cast<double>(*gpu.memory_total_bytes))
                                     : "?"),
                     State::kOk, ""});
    }
  }
}

void AddKernelLog(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  const auto log = KernelLog::Open(input.roots.dev + "/kmsg");
  out.push_back({"kernel log", log ? "readable" : "not readable",
                 log ? State::kOk : State::kUnavailable,
                 log ? ""
                     : "kills are then known by counters only; kernel.dmesg_restrict=0 or root "
                       "would show which process and why"});
}

}  // namespace

std::vector<SurroundingFact> ReadSurroundings(const SurroundingsInput& input) {
  std::vector<SurroundingFact> out;
  AddContainer(input, out);
  AddScheduler(input, out);
  AddMemory(input, out);
  AddCgroups(input, out);
  AddOvercommit(input, out);
  AddLimits(input, out);
  AddDisk("shared memory", "/dev/shm", input, out);
  AddDisk("working folder", input.working_folder, input, out);
  AddDisk("recordings", input.recording_folder, input, out);
  AddDisk("temporary files", "/tmp", input, out);
  AddPressure(input, out);
  AddKernelLog(input, out);
  AddTracing(input, out);
  AddCorePattern(input, out);
  AddGpus(input, out);
  return out;
}

}  // namespace whystop
