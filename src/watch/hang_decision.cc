#include "watch/hang_decision.h"

#include <algorithm>

namespace whystop {
namespace {

// Of one core, of all processes of the job: pollers and heartbeats of a waiting job take less (a
// launcher and eight waiting ranks took 0.03 where this was tried), a thread that works takes more.
constexpr double kIdleShareMax = 0.1;
// On a machine that is busy with other things a process stands still because it gets no processor:
// only what it computed meanwhile can show that it goes round in a circle.
constexpr double kBusyCpuSeconds = 0.25;
constexpr std::int64_t kIdleIoBytes = 1 << 20;
constexpr std::int64_t kIdleGpuPercent = 1;
// A second: a download of a few kilobytes a second wakes its reader more often, one that tries again
// after every second in vain less.
constexpr double kIdlePeerWakes = 2;
// Variables that change may be work, and a sleep that its author asked for ends: a choice, how much
// longer than an ordinary limit they are believed.
constexpr int kTimesWhenItMayBeWork = 10;

bool IsPython(const ProcessLook& process) { return !process.python.empty(); }

bool IsStopped(const ProcessLook& process) { return process.state == 'T' || process.state == 't'; }

/// Another process waits for this one to end.
bool IsWaitedFor(const ProcessLook& process, const std::vector<ProcessLook>& processes) {
  return std::any_of(processes.begin(), processes.end(), [&process](const ProcessLook& one) {
    const ThreadLook* main = one.MainThread();
    return one.pid == process.parent_pid && main != nullptr && main->waits_in == "wait";
  });
}

/// The author asked for this wait, and it ends. Of a launcher and its ranks, the ranks count.
bool Sleeps(const std::vector<ProcessLook>& processes) {
  const bool has_ranks = std::any_of(processes.begin(), processes.end(),
                                     [](const ProcessLook& one) { return one.rank.has_value(); });
  return std::any_of(processes.begin(), processes.end(), [&processes, has_ranks](const ProcessLook& one) {
    const ThreadLook* main = one.MainThread();
    const bool counts = has_ranks ? one.rank.has_value() : IsPython(one) || IsWaitedFor(one, processes);
    return counts && main != nullptr &&
           (main->waits_in == "sleep" || main->waits_in.find("nanosleep") != std::string::npos);
  });
}

/// It speaks for a job that runs elsewhere, of which nothing can be seen from here.
bool IsRemoteClient(const ProcessLook& process) {
  constexpr std::string_view kClients[] = {"ssh", "srun", "salloc", "sbatch", "qrsh", "bsub", "pdsh",
                                           "kubectl", "oc", "docker", "podman", "nerdctl", "gcloud"};
  return std::find(std::begin(kClients), std::end(kClients), process.name) != std::end(kClients);
}

bool Stands(const ProcessLook& process) { return process.same_frames; }

}  // namespace

std::string_view Name(Standstill standstill) {
  switch (standstill) {
    case Standstill::kStopped:
      return "stopped";
    case Standstill::kWaiting:
      return "waiting";
    case Standstill::kSleeping:
      return "sleeping";
    case Standstill::kBusy:
      return "busy";
    case Standstill::kNone:
      break;
  }
  return "moving";
}

Standstill DecideStandstill(const Stillness& seen, std::int64_t gpu_percent,
                            std::chrono::nanoseconds silence, const SilenceLimit& limit) {
  const auto& processes = seen.processes;
  if (processes.empty() ||
      std::any_of(processes.begin(), processes.end(), &WaitsForItsUser) ||
      std::any_of(processes.begin(), processes.end(), &IsRemoteClient)) {
    return Standstill::kNone;
  }
  const bool works = seen.cpu_share > kIdleShareMax || seen.always_runs || seen.io_bytes > kIdleIoBytes ||
                     gpu_percent > kIdleGpuPercent || seen.peer_wakes > kIdlePeerWakes;
  if (!works && std::any_of(processes.begin(), processes.end(), &IsStopped)) {
    return Standstill::kStopped;
  }
  if (!seen.same_processes || !std::all_of(processes.begin(), processes.end(), &Stands)) {
    return Standstill::kNone;
  }
  if (!works && Sleeps(processes)) {
    return silence >= limit.waiting * kTimesWhenItMayBeWork ? Standstill::kSleeping
                                                            : Standstill::kNone;
  }
  if (!works) {
    return Standstill::kWaiting;
  }
  if (std::any_of(processes.begin(), processes.end(),
                  [](const ProcessLook& process) { return CompilerIn(process).has_value(); })) {
    return Standstill::kNone;  // Compilers take their time, and one call of them is one place.
  }
  const auto python = std::count_if(processes.begin(), processes.end(), &IsPython);
  const bool constant =
      std::all_of(processes.begin(), processes.end(),
                  [](const ProcessLook& process) { return process.same_variables; });
  const auto enough = constant ? limit.busy : limit.busy * kTimesWhenItMayBeWork;
  const bool computed = seen.cpu_s >= kBusyCpuSeconds || gpu_percent > kIdleGpuPercent;
  return python > 0 && computed && silence >= enough && seen.io_bytes <= kIdleIoBytes
             ? Standstill::kBusy
             : Standstill::kNone;
}

}  // namespace whystop
