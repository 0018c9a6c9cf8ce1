#include "diagnose/line_counts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "sign/early_stop.h"
#include "sign/shell_notice.h"
#include "sign/account/account.h"
#include "sign/exception_facts.h"
#include "sign/swallowed_error.h"

namespace whystop {
namespace {

// An exception with one of these tells of a collective operation itself.
constexpr std::string_view kCollectiveWords[] = {"NCCL",   "nccl",       "Gloo", "gloo",
                                                 "imeout", "collective", "Dist", "timed out"};

/// The program lived on: it returned 0, or its own words say that it finished.
bool EndedWell(const CaseFile& run) {
  if (run.end && run.end->end) {
    return run.end->end->ShellCode() == 0 && FindEndingException(run) == nullptr && AskedToEnd(run) == nullptr &&
           !FindShellNotice(run);
  }
  return run.text_end && run.text_end->kind == TextEnd::Kind::kCompleted;
}

bool EndsTheRun(const CauseEntry& cause) {
  switch (cause.outcome) {
    case Outcome::kRaised:
    case Outcome::kCrashed:
    case Outcome::kKilled:
    case Outcome::kInterrupted:
      return true;
    default:
      return false;
  }
}

/// Whether the line is part of a traceback's text.
bool IsPartOf(const LogFact& fact, const ExceptionSeen& exception) {
  return exception.last_line > 0 && exception.place.file == fact.place.file &&
         fact.place.line >= exception.place.line && fact.place.line <= exception.last_line;
}

/// What a traceback says shares its fate, whatever the rest of the log did meanwhile.
std::optional<bool> CountsByTraceback(const CaseFile& run, const LogFact& fact) {
  for (const ExceptionSeen& exception : run.exceptions) {
    if (IsPartOf(fact, exception)) {
      constexpr std::string_view kInterrupt = "KeyboardInterrupt";
      if (fact.line == kInterrupt && exception.type != kInterrupt &&
          exception.first_type != kInterrupt) {
        return false;  // Of a program that was ending already.
      }
      return exception.ended_process       ? std::optional(true)
             : exception.metrics_after > 0 ? std::optional(false)
                                           : std::nullopt;
    }
  }
  return std::nullopt;
}

/// A consequence is the best root there is where the exception that ended the run says it itself:
/// whatever brought it about stands in no log.
bool IsWhatEndedIt(const CaseFile& run, const LogFact& fact) {
  const ExceptionSeen* ending = FindEndingException(run);
  return ending != nullptr && !IsLaunchersReport(*ending) && IsPartOf(fact, *ending) &&
         (fact.line.starts_with(ending->type) ||
          (!ending->first_type.empty() && fact.line.starts_with(ending->first_type)));
}

/// The others waited for a rank that had raised an exception before, of something else.
bool WaitedForAFailedRank(const CaseFile& run, const LogFact& fact) {
  if (fact.cause != "collective-timeout") {
    return false;
  }
  const ExceptionSeen* own = FindOwnException(run);
  if (own == nullptr || own->place.file != fact.place.file || fact.place.line <= own->last_line) {
    return false;
  }
  const std::string text = own->type + own->message;
  return std::none_of(std::begin(kCollectiveWords), std::end(kCollectiveWords),
                      [&text](std::string_view word) { return text.find(word) != text.npos; });
}

/// A rank whose peer had raised an exception before met a closed connection, and aborted while it shut down: the
/// launcher may well hear of that one first.
bool AbortedWhenLeftAlone(const CaseFile& run, const LogFact& fact) {
  const ExceptionSeen* ending = FindEndingException(run);
  return fact.cause == "native-abort" && ending != nullptr && ending->ended_process && !IsLaunchersReport(*ending) &&
         !IsEchoOfAnotherRank(*ending) &&
         std::any_of(run.exceptions.begin(), run.exceptions.end(), &IsEchoOfAnotherRank);
}

bool SameButForDigits(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of("0123456789", at), text.size());
  };
  std::size_t i = next(a, 0);
  std::size_t j = next(b, 0);
  while (i < a.size() && j < b.size() && a[i] == b[j]) {
    i = next(a, i + 1);
    j = next(b, j + 1);
  }
  return i == a.size() && j == b.size();
}

/// The program has lived through the very same before: a batch that it skips, a text that it
/// prints. Once more at the end of the log is no reason to believe that it ended.
bool SurvivedBefore(const CaseFile& run, const LogFact& fact) {
  constexpr std::int64_t kPointsToSurvive = 4;  // Other ranks may print one or two meanwhile.
  return std::any_of(run.log_facts.begin(), run.log_facts.end(), [&fact](const LogFact& other) {
    return other.cause == fact.cause && other.metrics_after >= kPointsToSurvive &&
           SameButForDigits(other.line, fact.line);
  });
}

/// srun ends a step by itself once one of its tasks has failed, and the step is called cancelled.
bool IsCancelledBySrun(const CaseFile& run, const LogFact& fact) {
  return fact.cause == "scheduler-cancelled" && fact.role == LogFact::Role::kConfirm &&
         std::any_of(run.log_facts.begin(), run.log_facts.end(), [](const LogFact& other) {
           return other.line.starts_with("srun: Terminating ");
         });
}

/// The text that a probe saw is of the exception that ended the run, or of the one that was hidden and cost the rest.
bool IsTextOfTheEnd(const CaseFile& run, const LogFact& fact) {
  const auto says = [&fact](const std::string& type, const std::string& message) {
    return (type + ": " + message).find(fact.line) != std::string::npos;
  };
  if (const ExceptionSeen* ending = FindEndingException(run)) {
    return says(ending->type, ending->message) || says(ending->first_type, ending->first_message);
  }
  const auto hidden = FindSwallowedError(run);
  return hidden && says(hidden->type, hidden->message);
}

/// Python's warnings let the program go on; what ended it, it says itself.
bool IsWarningBesideAnException(const CaseFile& run, const LogFact& fact) {
  const ExceptionSeen* own = FindOwnException(run);
  return own != nullptr && !IsPartOf(fact, *own) && fact.line.find("Warning: ") != std::string::npos;
}

/// Slurm's daemon writes into the job's log beside the job: no program prints that of itself.
bool IsWordOfTheScheduler(const CaseFile& run, const CauseEntry& cause, const LogFact& fact) {
  return !run.watched && cause.outcome == Outcome::kKilled && fact.fatal && fact.line.starts_with("slurmstepd: error:");
}

bool IsLate(const CaseFile& run, const LogFact& fact) {
  return fact.metrics_after <= 3 + run.metric_points / 20;
}

/// "83 epochs completed", of 300: so many had been made when early stopping ended it.
bool CountsWhatAnEarlyStopLeft(const CaseFile& run, const LogFact& fact) {
  const bool short_of_plan = run.progress.epoch && run.progress.epochs_planned && *run.progress.epoch < *run.progress.epochs_planned;
  return fact.cause == "finished-epochs" && short_of_plan &&
         std::any_of(run.log_facts.begin(), run.log_facts.end(), [&run](const LogFact& other) {
           return other.cause == "early-stop-patience" && other.role == LogFact::Role::kNormal && IsLate(run, other);
         });
}

}  // namespace

bool LineCounts(const CaseFile& run, const CauseEntry& cause, const LogFact& fact) {
  if (fact.process) {
    return (EndsTheRun(cause) || cause.outcome == Outcome::kStoppedEarly) && IsTextOfTheEnd(run, fact);
  }
  if (fact.role == LogFact::Role::kNormal) {
    // A last evaluation may follow it; another fold or stage of the same program says that this was
    // not the end.
    // A study goes on after a trial that it gave up.
    const bool of_a_trial = fact.cause == "trial-pruned" && EndedWell(run);
    const bool by_design = fact.cause == "early-stop-patience" && StoppedAfterItsBest(run);
    return !of_a_trial && !by_design && IsLate(run, fact) && !CountsWhatAnEarlyStopLeft(run, fact) &&
           (!cause.fault || cause.outcome == Outcome::kStoppedEarly);
  }
  if (fact.role == LogFact::Role::kCascade) {
    return EndsTheRun(cause) && IsWhatEndedIt(run, fact);
  }
  if (fact.role != LogFact::Role::kRoot && fact.role != LogFact::Role::kConfirm) {
    return false;
  }
  if (cause.answers == Answers::kLearning || cause.outcome == Outcome::kUnknown) {
    return true;
  }
  if ((EndsTheRun(cause) && EndedWell(run)) || IsCancelledBySrun(run, fact) ||
      WaitedForAFailedRank(run, fact) || AbortedWhenLeftAlone(run, fact) || IsWarningBesideAnException(run, fact)) {
    return false;
  }
  if (cause.outcome == Outcome::kStoppedEarly) {
    return IsLate(run, fact);  // The epoch that was stopped is drawn once more.
  }
  // Who is asked to end makes its last turn first; and what a scheduler kills has figures on their way.
  const bool last_turn = ((CanLeadTo(cause, "external-sigterm") && AskedToEnd(run) != nullptr) || IsWordOfTheScheduler(run, cause, fact)) && IsLate(run, fact);
  return CountsByTraceback(run, fact).value_or((fact.metrics_after == 0 || last_turn) &&
                                               !SurvivedBefore(run, fact));
}

}  // namespace whystop
