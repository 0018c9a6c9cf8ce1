#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <optional>
#include <string>
#include <vector>

#include "supervise/channel.h"
#include "supervise/run_state.h"

namespace whystop {

/// How signals stood when whystop was started: the job gets them back exactly so.
struct SignalSetting {
  sigset_t mask{};
  struct sigaction child {};
  struct sigaction pipe {};
  struct sigaction file_size {};

  /// Saves the setting, makes children waitable, and has a reader of ours that went away and a file
  /// that may not grow come as errors, not as our death.
  static SignalSetting Save();
  /// Blocks every signal that can be blocked; false where that is refused.
  static bool BlockAll();
  void Restore() const;
};

/// The number of descriptors that the job may open. Ours may be more.
struct DescriptorLimit {
  std::optional<rlimit> given;

  /// Raises the soft limit as far as whystop needs it and may.
  static DescriptorLimit SaveAndRaise();
  void Restore() const;
};

/// How things stood when whystop was started; the job gets them so.
struct JobSetting {
  SignalSetting signals;
  DescriptorLimit descriptors;

  /// To be called before anything is opened.
  static JobSetting Save() { return {SignalSetting::Save(), DescriptorLimit::SaveAndRaise()}; }
  void Restore() const {
    descriptors.Restore();
    signals.Restore();
  }
};

/// Everything about the job that is made before the fork, so that the child only makes system
/// calls.
struct JobPlan {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value"
  JobSetting setting;
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
