#include "supervise/system_sweep.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/parse.h"
#include "supervise/process_identity.h"
#include "supervise/signal_witness.h"

namespace whystop {
namespace {

/// A front that took over has a child of its own.
bool IsOurs(pid_t pid) {
  const auto name = ReadFile("/proc/" + std::to_string(pid) + "/comm", 64);
  return name && Trim(*name) == kWitnessName;
}

/// The job first, then what was reparented to us. Empty but for the job where the kernel has no
/// `children` files: the sensors then find descendants by their parents. Nobody where /proc is another's.
std::vector<pid_t> JobAndOrphans(pid_t job) {
  if (!ProcIsOurs()) {
    return {};
  }
  constexpr std::size_t kOrphansMax = 1024;
  std::vector<pid_t> pids{job};
  const std::string own = std::to_string(::getpid());
  const auto text = ReadFile("/proc/" + own + "/task/" + own + "/children", 16384);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty() && pids.size() < kOrphansMax) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    const auto pid = ParseWhole<pid_t>(Trim(word));
    if (pid && *pid != job && !IsOurs(*pid)) {
      pids.push_back(*pid);
    }
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return pids;
}

}  // namespace

void SystemSweep::Sweep(RunTime now, pid_t job, std::vector<Event>& out) {
  const std::vector<pid_t> pids = JobAndOrphans(job);
  sensors_->Sample(now, pids, out);
  for (const VanishedProcess& gone : sensors_->vanished()) {
    if (reaped_.count(static_cast<pid_t>(gone.pid)) == 0 &&
        reaped_before_.count(static_cast<pid_t>(gone.pid)) == 0) {
      ProcessEnd end;
      end.pid = gone.pid;
      end.parent_pid = gone.parent_pid;
      end.name = gone.name;
      end.is_job = gone.pid == job;
      out.push_back({.at = now, .body = std::move(end)});
    }
  }
  reaped_before_ = std::move(reaped_);
  reaped_.clear();
}

void SystemSweep::Reaped(pid_t pid) {
  constexpr std::size_t kRememberedMax = 8192;
  if (reaped_.size() < kRememberedMax) {
    reaped_.insert(pid);
  }
}

}  // namespace whystop
