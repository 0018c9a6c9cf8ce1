#include "diagnose/candidates.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "cause/declaration.h"
#include "diagnose/line_counts.h"
#include "sign/exception_facts.h"

namespace whystop {
namespace {

constexpr std::string_view kGeneric[] = {"dataloader-worker-exception", "external-sigkill", "external-sigterm", "native-abort",
                                         "swallowed-exception", "uncaught-exception"};

bool IsGeneric(std::string_view id) {
  return std::find(std::begin(kGeneric), std::end(kGeneric), id) != std::end(kGeneric);
}

bool IsGeneral(const LogFact& fact) { return fact.generic || fact.role == LogFact::Role::kCascade; }

constexpr std::size_t kNoLine = std::numeric_limits<std::size_t>::max();

/// The log line to quote for a cause: one is enough, the first that is specific; its repetitions
/// add nothing.
std::size_t LineFor(const CaseFile& run, const CauseEntry& cause) {
  std::size_t best = kNoLine;
  for (std::size_t i = 0; i < run.log_facts.size(); ++i) {
    const LogFact& fact = run.log_facts[i];
    const bool better = best == kNoLine || (IsGeneral(run.log_facts[best]) && !IsGeneral(fact));
    if (fact.cause == cause.id && better && LineCounts(run, cause, fact)) {
      best = i;
    }
  }
  return best;
}

/// Where an exception's traceback stands among the log lines: behind those of its own text. Lines
/// have odd places, so that it has one of its own.
std::size_t OrderOf(const CaseFile& run, const ExceptionSeen& exception) {
  const auto before =
      std::count_if(run.log_facts.begin(), run.log_facts.end(), [&exception](const LogFact& fact) {
        return fact.place.file == exception.place.file && fact.place.line <= exception.last_line;
      });
  return 2 * static_cast<std::size_t>(before);
}

/// The line as it is to be quoted: of the first line of an exception's message the point of the whole.
std::string Quoted(const CaseFile& run, const LogFact& fact) {
  const ExceptionSeen* ending = FindEndingException(run);
  const bool first_line = ending != nullptr && ending->place.file == fact.place.file && fact.place.line >= ending->place.line &&
                          fact.place.line <= ending->last_line && fact.line.starts_with(ending->type + ": ");
  return first_line && !ending->in_worker ? PointOf(*ending) : fact.line;
}

/// What the signature table's lines say.
void WeighLogLines(const CaseFile& run, Candidate& candidate) {
  const std::size_t line = LineFor(run, *candidate.cause);
  candidate.order = line == kNoLine ? kNoLine : 2 * line + 1;
  if (candidate.cause->id == "uncaught-exception" && line == kNoLine) {
    const ExceptionSeen* ending = FindOwnException(run);
    candidate.order = ending == nullptr ? kNoLine : OrderOf(run, *ending);
  }
  if (line == kNoLine) {
    return;
  }
  const LogFact& fact = run.log_facts[line];
  candidate.of_exception = !IsGeneral(fact) && std::any_of(run.log_facts.begin(), run.log_facts.end(), [&](const LogFact& one) {
    return one.process && one.cause == candidate.cause->id && LineCounts(run, *candidate.cause, one);
  });
  const bool decisive =
      candidate.cause->answers == Answers::kStop && candidate.cause->outcome != Outcome::kUnknown;
  candidate.hypothesis.Add(
      {.weight = decisive ? Evidence::Weight::kDecisive : Evidence::Weight::kSupporting,
       .kind = "log-line",
       .text = Quoted(run, fact),
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

/// A cause of bad learning: by the inference, and by log lines that name it.
void TakeLearning(const std::vector<Considered>& learning, Candidate& candidate) {
  const Declaration& declared = *FindDeclaration(candidate.cause->id);
  candidate.generic = declared.symptom;
  candidate.exact = false;
  candidate.settled_by = declared.settled_by;
  for (const Considered& one : learning) {
    if (one.declared != &declared || !one.ruled_out.empty()) {
      continue;
    }
    candidate.hypothesis = one.hypothesis;
    candidate.log_odds = one.log_odds;
    candidate.exact = one.exact;
    for (const WeighedClause& clause : one.clauses) {
      if (clause.weight > 0) {
        candidate.explains.push_back(clause.sign);
      }
    }
  }
}

Candidate CandidateOf(const CaseFile& run, const CauseEntry& cause,
                      const std::vector<Considered>& learning) {
  Candidate candidate;
  candidate.cause = &cause;
  candidate.generic = IsGeneric(cause.id);
  if (cause.weigh != nullptr) {
    cause.weigh(run, candidate.hypothesis);
  }
  if (cause.answers == Answers::kLearning) {
    TakeLearning(learning, candidate);
  }
  const std::size_t before = candidate.hypothesis.evidence().size();
  WeighLogLines(run, candidate);
  candidate.confidence = ConfidenceOf(candidate.hypothesis);
  if (cause.answers == Answers::kLearning) {
    candidate.log_odds +=
        candidate.hypothesis.evidence().size() > before ? kLogLineWeight : 0;
    candidate.confidence = ConfidenceAt(candidate.log_odds);
  }
  return candidate;
}

}  // namespace

std::vector<Candidate> CollectCandidates(const CaseFile& run,
                                         const std::vector<Considered>& learning) {
  std::vector<Candidate> candidates;
  for (const CauseEntry& cause : AllCauses()) {
    Candidate candidate = CandidateOf(run, cause, learning);
    if (IsUnderSuspicion(candidate.hypothesis)) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

}  // namespace whystop
