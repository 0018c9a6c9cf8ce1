#include "diagnose/candidates.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "cause/exception_facts.h"

namespace whystop {
namespace {

constexpr std::string_view kGeneric[] = {
    "constant-prediction", "external-sigkill",    "external-sigterm",  "loss-nan",
    "native-abort",        "swallowed-exception", "uncaught-exception"};

bool IsGeneric(std::string_view id) {
  return std::find(std::begin(kGeneric), std::end(kGeneric), id) != std::end(kGeneric);
}

/// The program lived on: it returned 0, or its own words say that it finished.
bool EndedWell(const CaseFile& run) {
  if (run.end && run.end->end) {
    return run.end->end->ShellCode() == 0;
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

/// srun ends a step by itself once one of its tasks has failed, and the step is called cancelled.
bool IsCancelledBySrun(const CaseFile& run, const LogFact& fact) {
  return fact.cause == "scheduler-cancelled" && fact.role == LogFact::Role::kConfirm &&
         std::any_of(run.log_facts.begin(), run.log_facts.end(), [](const LogFact& other) {
           return other.line.starts_with("srun: Terminating ");
         });
}

/// A line counts against the run when it could have ended it: training that went on after it has
/// survived it.
bool LineCounts(const CaseFile& run, const CauseEntry& cause, const LogFact& fact) {
  if (fact.role == LogFact::Role::kNormal) {
    // A last evaluation may follow it; another fold or stage of the same program says that this was
    // not the end.
    return fact.metrics_after <= 3 + run.metric_points / 20 &&
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
  if ((EndsTheRun(cause) && EndedWell(run)) || IsCancelledBySrun(run, fact)) {
    return false;
  }
  if (cause.outcome == Outcome::kStoppedEarly) {
    return fact.metrics_after <=
           3 + run.metric_points / 20;  // The epoch that was stopped is drawn once more.
  }
  return CountsByTraceback(run, fact).value_or(fact.metrics_after == 0);
}

bool IsGeneral(const LogFact& fact) { return fact.generic || fact.role == LogFact::Role::kCascade; }

/// What the signature table's lines say. One line is enough to quote, the first that is specific;
/// its repetitions add nothing.
void WeighLogLines(const CaseFile& run, Candidate& candidate) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  candidate.order = kNone;
  for (std::size_t i = 0; i < run.log_facts.size(); ++i) {
    const LogFact& fact = run.log_facts[i];
    const bool better =
        candidate.order == kNone || (IsGeneral(run.log_facts[candidate.order]) && !IsGeneral(fact));
    if (fact.cause == candidate.cause->id && better && LineCounts(run, *candidate.cause, fact)) {
      candidate.order = i;
    }
  }
  if (candidate.order == kNone) {
    return;
  }
  const LogFact& fact = run.log_facts[candidate.order];
  const bool decisive =
      candidate.cause->answers == Answers::kStop && candidate.cause->outcome != Outcome::kUnknown;
  candidate.hypothesis.Add(
      {.weight = decisive ? Evidence::Weight::kDecisive : Evidence::Weight::kSupporting,
       .kind = "log-line",
       .text = fact.line,
       .place = fact.place});
  candidate.generic = candidate.generic || IsGeneral(fact);
}

Confidence ConfidenceOf(const Hypothesis& hypothesis) {
  const auto count = [&hypothesis](Evidence::Weight weight) {
    return std::count_if(hypothesis.evidence().begin(), hypothesis.evidence().end(),
                         [weight](const Evidence& evidence) { return evidence.weight == weight; });
  };
  if (count(Evidence::Weight::kDecisive) > 0) {
    return count(Evidence::Weight::kContradicting) > 0 ? Confidence::kLikely : Confidence::kCertain;
  }
  return count(Evidence::Weight::kSupporting) > 1 ? Confidence::kLikely : Confidence::kPossible;
}

bool IsUnderSuspicion(const Hypothesis& hypothesis) {
  if (hypothesis.Has(Evidence::Weight::kDecisive)) {
    return true;
  }
  return hypothesis.Has(Evidence::Weight::kSupporting) &&
         !hypothesis.Has(Evidence::Weight::kContradicting);
}

}  // namespace

std::vector<Candidate> CollectCandidates(const CaseFile& run) {
  std::vector<Candidate> candidates;
  for (const CauseEntry& cause : AllCauses()) {
    Candidate candidate;
    candidate.cause = &cause;
    candidate.generic = IsGeneric(cause.id);
    if (cause.weigh != nullptr) {
      cause.weigh(run, candidate.hypothesis);
    }
    WeighLogLines(run, candidate);
    if (IsUnderSuspicion(candidate.hypothesis)) {
      candidate.confidence = ConfidenceOf(candidate.hypothesis);
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

}  // namespace whystop
