#include <fmt/format.h>

#include <csignal>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighRlimitSignal(const CaseFile& run, Hypothesis& out) {
  const int signal = SignalOfJob(run);
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
