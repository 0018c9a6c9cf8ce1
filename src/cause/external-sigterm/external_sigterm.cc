#include <fmt/format.h>

#include <csignal>

#include "base/human.h"
#include "sign/account/account.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighExternalSigterm(const CaseFile& run, Hypothesis& out) {
  const SignalSeen* seen = FindSignal(run, SIGTERM);
  const bool ended_by_it = SignalOfJob(run) == SIGTERM;
  const bool failed_after_it = seen != nullptr && run.ExitCode().value_or(0) != 0;
  const SignalSeen* asked = AskedToEnd(run);
  if (asked != nullptr && asked->signal != SIGINT && asked->signal != SIGXCPU && !ended_by_it) {
    out.Add(Decisive("signal", SignalName(asked->signal) + " came from " + DescribeSender(*asked) +
                                   "; the program handled it and ended by itself before its plan "
                                   "was done"));
    return;
  }
  if (!ended_by_it && !failed_after_it) {
    return;
  }
  if (ended_by_it) {
    out.Add(Decisive("exit-status", "the job ended by SIGTERM"));
  }
  if (seen != nullptr) {
    out.Add(
        Decisive("signal", "SIGTERM came from " + DescribeSender(*seen) +
                               (seen->sender_command.empty() ? "" : ": " + seen->sender_command)));
  } else {
    out.Add(
        Missing("signal",
                "it was sent to the job itself, not through whystop, so the sender is not known"));
  }
}

}  // namespace whystop
