#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/account/account.h"

namespace whystop {
namespace {

/// SIGKILL when the CPU time used is the limit: the kernel's answer where the hard limit is the soft one.
void WeighHardLimit(const CaseFile& run, int signal, Hypothesis& out) {
  constexpr double kReached = 0.97;
  if (signal != SIGKILL || !run.start || run.start->limits.count("cpu") == 0) {
    return;
  }
  const double limit_ms = 1000.0 * static_cast<double>(run.start->limits.at("cpu"));
  double used_ms = run.job_end ? static_cast<double>(run.job_end->cpu_ms.value_or(0)) : 0;
  for (const ProcessEnd& ended : run.process_ends) {
    used_ms = std::max(used_ms, static_cast<double>(ended.cpu_ms.value_or(0)));
  }
  if (limit_ms > 0 && used_ms >= kReached * limit_ms) {
    out.Add(Decisive("exit-status",
                     fmt::format("SIGKILL after {} of CPU time, where the limit was {} (ulimit -t)",
                                 HumanDuration(std::chrono::milliseconds(std::llround(used_ms))),
                                 HumanDuration(std::chrono::milliseconds(std::llround(limit_ms))))));
  }
}

/// The same of a limit that a script has set, which the process itself knows. What it had used is told every few seconds.
void WeighLimitOfTheProcess(const CaseFile& run, int signal, Hypothesis& out) {
  constexpr double kNearEnough = 0.5;
  const auto limit = As<seen::Python>(LastOfTraining(run, seen::Python::kKind)).cpu_limit_s;
  const double used = As<seen::Overhead>(LastOfTraining(run, seen::Overhead::kKind)).process_cpu_s.value_or(0);
  if (signal == SIGKILL && limit && *limit > 0 && used >= kNearEnough * static_cast<double>(*limit)) {
    out.Add(Decisive("exit-status",
                     fmt::format("SIGKILL, where the process had a limit of {} of CPU time (ulimit -t) and had used {} when it was last seen",
                                 HumanDuration(std::chrono::seconds(*limit)),
                                 HumanDuration(std::chrono::milliseconds(std::llround(1000 * used))))));
  }
}

}  // namespace

void WeighRlimitSignal(const CaseFile& run, Hypothesis& out) {
  const int signal = SignalOfJob(run);
  WeighHardLimit(run, signal, out);
  WeighLimitOfTheProcess(run, signal, out);
  if (signal != SIGXCPU && signal != SIGXFSZ) {
    return;
  }
  const std::string limit = signal == SIGXCPU ? "cpu" : "fsize";
  out.Add(
      Decisive("exit-status",
               fmt::format("the job ended by {}, which the kernel sends when a resource limit is "
                           "reached",
                           SignalName(signal))));
  if (run.start && run.start->limits.count(limit) != 0) {
    const std::int64_t value = run.start->limits.at(limit);
    const std::string figure = signal == SIGXCPU
                                   ? HumanDuration(std::chrono::seconds(value)) + " of CPU time"
                                   : HumanBytes(static_cast<double>(value)) + " a file";
    out.Add(Supports("environment", fmt::format("the limit in force was {} (ulimit -{})", figure,
                                                signal == SIGXCPU ? 't' : 'f')));
  }
}

}  // namespace whystop
