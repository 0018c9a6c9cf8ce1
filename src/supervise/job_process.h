#pragma once

#include <signal.h>

#include <string>
#include <vector>

#include "supervise/channel.h"
#include "supervise/run_state.h"

namespace whystop {

/// How signals stood when whystop was started: the job gets them back exactly so.
struct SignalSetting {
  sigset_t mask{};
  struct sigaction child {};

  /// Saves the setting, blocks every signal that can be blocked and makes children waitable.
  static SignalSetting SaveAndBlockAll();
  void Restore() const;
};

/// Everything about the job that is made before the fork, so that the child only makes system
/// calls.
struct JobPlan {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value"
  SignalSetting signals;
};

/// Forks and executes the job and waits until that worked or failed: RunState then has the pid and
/// the reason.
void StartJob(const JobPlan& plan, const std::vector<Channel>& channels, RunState& state);

/// The line for the user and the code for the shell when `command` could not be executed.
struct StartFault {
  std::string what;
  int exit_code = 126;
};
StartFault DescribeStartFault(const std::string& command, int exec_errno);

}  // namespace whystop
