#include <fmt/format.h>

#include <csignal>

#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighSighupLogout(const CaseFile& run, Hypothesis& out) {
  const SignalSeen* seen = FindSignal(run, SIGHUP);
  const bool ended_by_it = SignalOfJob(run) == SIGHUP;
  if (!ended_by_it && !(seen != nullptr && run.ExitCode().value_or(0) != 0)) {
    return;
  }
  if (ended_by_it) {
    out.Add(Decisive("exit-status",
                     "the job ended by SIGHUP, the signal of a terminal that goes away"));
  }
  if (seen != nullptr) {
    out.Add(Supports("signal", "SIGHUP came from " + DescribeSender(*seen)));
  }
  if (run.start && run.start->environment.count("SSH_CONNECTION") != 0) {
    out.Add(Supports("environment", "the run was started in an SSH session"));
  }
}

}  // namespace whystop
