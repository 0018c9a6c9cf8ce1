#include "diagnose/outcome.h"

#include <algorithm>
#include <csignal>

#include "base/parse.h"
#include "cause/cause.h"
#include "cause/hang_facts.h"
#include "cause/memory_facts.h"
#include "sign/account/account.h"
#include "sign/account/notebook.h"
#include "sign/exception_facts.h"

namespace whystop {
namespace {

Outcome OutcomeOfSignal(int signal) {
  switch (signal) {
    case SIGINT:
      return Outcome::kInterrupted;
    case SIGSEGV:
    case SIGBUS:
    case SIGABRT:
    case SIGILL:
    case SIGFPE:
    case SIGTRAP:
    case SIGSYS:
      return Outcome::kCrashed;
    default:
      return Outcome::kKilled;
  }
}

/// What a launcher says of the rank that failed: it left with a status of its own, or by a signal.
Outcome OutcomeOfFailedRank(const CaseFile& run) {
  for (const LogFact& fact : run.log_facts) {
    const auto code = fact.cause == "sibling-rank-failed" && !fact.captures.empty()
                          ? ParseWhole<int>(fact.captures[0])
                          : std::nullopt;
    if (code && *code != 0) {
      const int signal = *code < 0 ? -*code : *code > 128 ? *code - 128 : 0;
      return signal == 0 ? Outcome::kRaised : OutcomeOfSignal(signal);
    }
  }
  const ExceptionSeen* ending = FindEndingException(run);
  return ending != nullptr && !IsLaunchersReport(*ending) ? Outcome::kRaised : Outcome::kKilled;
}

/// The process aborted, and no Python exception of its own ended it: whatever was wrong, nothing
/// was raised that a program could have caught.
bool Aborted(const CaseFile& run) {
  const ExceptionSeen* ending = FindEndingException(run);
  return (ending == nullptr || IsLaunchersReport(*ending)) &&
         std::any_of(run.log_facts.begin(), run.log_facts.end(), [](const LogFact& fact) {
           return fact.cause == "native-abort" && fact.role == LogFact::Role::kConfirm &&
                  fact.metrics_after == 0;
         });
}

/// The outcome that goes with the cause of the stop: the last link of the chain is what ended the
/// run. One that explains why it still runs says nothing of its end.
Outcome OutcomeOfCauses(const CaseFile& run, const std::vector<VerdictCause>& causes) {
  for (const VerdictCause& cause : causes) {
    const CauseEntry* entry = FindCause(cause.id);
    if (cause.answers == Answers::kStop && cause.role != CauseRole::kContributing &&
        entry != nullptr && entry->outcome != Outcome::kUnknown &&
        (entry->outcome != Outcome::kRunning || !run.end)) {
      return cause.id == "sibling-rank-failed"                    ? OutcomeOfFailedRank(run)
             : entry->outcome == Outcome::kRaised && Aborted(run) ? Outcome::kCrashed
                                                                  : entry->outcome;
    }
  }
  return Outcome::kUnknown;
}

bool InChain(const std::vector<VerdictCause>& causes, Outcome outcome) {
  return std::any_of(causes.begin(), causes.end(), [outcome](const VerdictCause& cause) {
    const CauseEntry* entry = FindCause(cause.id);
    return cause.answers == Answers::kStop && cause.role != CauseRole::kContributing && entry != nullptr &&
           entry->outcome == outcome;
  });
}

/// Whatever befell a worker or a write: what ended the program itself was an exception of its own.
bool RaisedInTheEnd(const CaseFile& run, const std::vector<VerdictCause>& causes) {
  const ExceptionSeen* ending = FindEndingException(run);
  // The same words as those of a rank that was left alone; of output that nobody reads they are the program's own.
  const bool echo = ending != nullptr && IsEchoOfAnotherRank(*ending) &&
                    std::none_of(causes.begin(), causes.end(), [](const VerdictCause& cause) { return cause.id == "broken-pipe"; });
  return ending != nullptr && ending->ended_process && ending->type != "KeyboardInterrupt" &&
         !IsLaunchersReport(*ending) && !echo &&
         (InChain(causes, Outcome::kRaised) || SignalOfDeadChild(run) != 0);
}

/// The counters stand at the end of the plan. A counter names what has begun: a text that breaks
/// off in the last epoch has not seen its end.
bool PlanIsDone(const CaseFile& run) {
  if (run.text_end && (run.text_end->kind == TextEnd::Kind::kMidLine ||
                       run.text_end->kind == TextEnd::Kind::kMidProgress)) {
    return false;
  }
  const Progress& progress = run.progress;
  if (progress.epochs_planned && progress.epoch) {
    return *progress.epoch >= *progress.epochs_planned;
  }
  // A bar without one figure of training may be any work; it is the run's if nothing was said after it.
  if (!run.watched && run.text_end && run.metric_points == 0 && progress.step &&
      run.text_end->last_line.find(std::to_string(*progress.step) + "/") == std::string::npos) {
    return false;
  }
  return progress.steps_planned && progress.step && *progress.step >= *progress.steps_planned;
}

/// The status says success. What the processes and the account of the plan say goes first.
Outcome OutcomeOfSuccess(const CaseFile& run, const std::vector<VerdictCause>& causes) {
  if (const ExceptionSeen* ending = FindEndingException(run); ending != nullptr) {
    if (ending->type == "KeyboardInterrupt" && IsNotebookKernel(run)) {
      return Outcome::kInterrupted;
    }
    return Outcome::kRaised;  // In a child of a shell or pipe, whose own status is another's.
  }
  if (InChain(causes, Outcome::kStoppedEarly)) {
    return Outcome::kStoppedEarly;
  }
  if (!run.time_limits_met.empty() && InChain(causes, Outcome::kKilled)) {
    return Outcome::kKilled;  // Inside a script that went on.
  }
  if (const SignalSeen* asked = AskedToEnd(run); asked != nullptr) {
    return OutcomeOfSignal(asked->signal);
  }
  return ReadAccount(run).IsShort() ? Outcome::kStoppedEarly : Outcome::kCompleted;
}

Outcome OutcomeOfExit(const CaseFile& run, const std::vector<VerdictCause>& causes) {
  const Outcome by_cause = OutcomeOfCauses(run, causes);
  if (const int signal = SignalOfStatus(run); signal != 0) {
    return OutcomeOfSignal(signal);
  }
  if (*run.ExitCode() == 0) {
    return OutcomeOfSuccess(run, causes);
  }
  if (RaisedInTheEnd(run, causes)) {
    return Outcome::kRaised;
  }
  // What would have hung has ended after all, by a time limit or a closed connection.
  if (by_cause == Outcome::kUnknown || by_cause == Outcome::kCompleted ||
      by_cause == Outcome::kStoppedEarly || by_cause == Outcome::kHung) {
    return FindEndingException(run) != nullptr ? Outcome::kRaised : Outcome::kStoppedEarly;
  }
  return by_cause;
}

Outcome OutcomeOfText(const CaseFile& run) {
  if (run.text_end && run.text_end->kind == TextEnd::Kind::kCompleted) {
    return Outcome::kCompleted;
  }
  if (PlanIsDone(run)) {
    return Outcome::kCompleted;
  }
  // A file written a moment ago may belong to a run that goes on.
  constexpr auto kFresh = std::chrono::minutes(2);
  const bool said_something =
      run.metric_points > 0 || (run.text_end && !run.text_end->last_line.empty());
  if (said_something && run.text_end && run.text_end->age && *run.text_end->age < kFresh) {
    return Outcome::kRunning;
  }
  return Outcome::kUnknown;
}

}  // namespace

Outcome DecideOutcome(const CaseFile& run, const std::vector<VerdictCause>& causes) {
  if ((run.job_alive || run.end) && HungToTheEnd(run)) {
    return Outcome::kHung;
  }
  if (run.end && run.end->end) {
    return OutcomeOfExit(run, causes);
  }
  if (run.job_alive) {
    const Outcome by_cause = OutcomeOfCauses(run, causes);
    return by_cause == Outcome::kHung ? Outcome::kHung : Outcome::kRunning;
  }
  const Outcome by_cause = OutcomeOfCauses(run, causes);
  return by_cause == Outcome::kUnknown ? OutcomeOfText(run) : by_cause;
}

}  // namespace whystop
