#include <fmt/format.h>

#include <csignal>

#include "base/parse.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighSchedulerTimeLimit(const CaseFile& run, Hypothesis& out) {
  const int signal = SignalOfJob(run);
  if (!run.start ||
      (signal != SIGTERM && signal != SIGKILL && FindSignal(run, SIGTERM) == nullptr)) {
    return;
  }
  const auto end_time = run.start->environment.find("SLURM_JOB_END_TIME");
  if (end_time == run.start->environment.end()) {
    return;
  }
  const auto limit = ParseWhole<std::int64_t>(end_time->second);
  const auto ended =
      std::chrono::duration_cast<std::chrono::seconds>(run.start->wall + run.last_at).count();
  // Slurm warns by SIGTERM and kills KillWait (30 s) later; a minute covers its rounding.
  if (limit && ended >= *limit - 60 && ended <= *limit + 120) {
    out.Add(Decisive("environment",
                     fmt::format("the job ended {} s from SLURM_JOB_END_TIME", ended - *limit)));
  }
}

}  // namespace whystop
