#include <fmt/format.h>

#include <csignal>
#include <string_view>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"
#include "sign/account/account.h"

namespace whystop {

namespace {

constexpr int kTimeIsUp = 124;  // What timeout(1) returns.

std::string_view Basename(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

void WeighWrapperTimeout(const CaseFile& run, Hypothesis& out) {
  if (!run.start) {
    return;
  }
  const bool wrapped =
      !run.start->command.empty() && Basename(run.start->command.front()) == "timeout";
  if (wrapped && run.ExitCode() == kTimeIsUp) {
    out.Add(
        Decisive("exit-status", "timeout(1) returned 124: the time it was given ran out after " +
                                    HumanDuration(run.last_at)));
  }
  for (const SignalSeen& seen : run.signals) {
    if (seen.sender_name == "timeout") {
      out.Add(Decisive("signal", fmt::format("{} came from {}: {}", SignalName(seen.signal),
                                             DescribeSender(seen), seen.sender_command)));
      return;
    }
  }
  // Inside a script, whose own status tells of it only where it is handed on.
  const bool handed_on = run.ExitCode() == kTimeIsUp;
  if (!wrapped && !run.time_limits_met.empty() && (handed_on || ReadAccount(run).IsShort())) {
    out.Add(Decisive("process", "its time was up when " + run.time_limits_met.back() + " ended, " +
                                    (handed_on ? "and the script returned its status, 124" : "with less done than planned")));
  }
  if (wrapped && SignalOfJob(run) == SIGKILL) {
    out.Add(Supports("exit-status", "timeout(1) ended by SIGKILL, as it does with --kill-after"));
  }
}

}  // namespace whystop
