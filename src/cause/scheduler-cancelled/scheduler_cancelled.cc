#include <fmt/format.h>

#include <csignal>

#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighSchedulerCancelled(const CaseFile& run, Hypothesis& out) {
  if (run.ExitCode() == 0) {
    return;
  }
  for (const SignalSeen& seen : run.signals) {
    if (seen.signal == SIGTERM && seen.sender_name == "slurmstepd") {
      out.Add(Supports("signal", "SIGTERM came from " + DescribeSender(seen)));
      out.Add(Supports(
          "environment",
          "Slurm's step daemon sends it when a job is cancelled, preempted or out of time"));
      return;
    }
  }
}

}  // namespace whystop
