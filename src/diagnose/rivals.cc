#include "diagnose/rivals.h"

#include <algorithm>

namespace whystop {
namespace {

constexpr std::size_t kRuledOutMax = 4;

std::string SettledBy(const std::vector<Candidate>& candidates, const std::string& id) {
  for (const Candidate& candidate : candidates) {
    if (candidate.cause->id == id) {
      return candidate.settled_by;
    }
  }
  return {};
}

void TellOpenQuestion(const std::vector<Candidate>& candidates, Verdict& verdict) {
  std::string names;
  std::string experiments;
  std::size_t rivals = 0;
  for (const VerdictCause& cause : verdict.causes) {
    const bool rival = cause.answers == Answers::kLearning && cause.role != CauseRole::kConsequence &&
                       cause.confidence == Confidence::kPossible;
    if (!rival) {
      continue;
    }
    ++rivals;
    names += (names.empty() ? "" : " or ") + cause.id;
    const std::string settled = SettledBy(candidates, cause.id);
    if (!settled.empty() && experiments.find(settled) == std::string::npos) {
      experiments += (experiments.empty() ? "" : "; ") + settled;
    }
  }
  if (rivals > 1 && !experiments.empty()) {
    verdict.unknowns.push_back({"which it is: " + names, experiments});
  }
}

bool IsSick(const Verdict& verdict) {
  return std::any_of(verdict.causes.begin(), verdict.causes.end(), [](const VerdictCause& cause) {
    return cause.answers == Answers::kLearning;
  });
}

/// Something of its own spoke for it, and not only that the run went badly; and something that was seen spoke against it.
bool WasARival(const Considered& one) {
  return one.contradicted &&
         std::any_of(one.clauses.begin(), one.clauses.end(), [](const WeighedClause& clause) {
           return clause.weight > 0 && !IsComplaint(clause.sign);
         });
}

}  // namespace

void TellRivals(const std::vector<Candidate>& candidates,
                const std::vector<Considered>& considered, Verdict& verdict) {
  TellOpenQuestion(candidates, verdict);
  if (!IsSick(verdict)) {
    return;  // What was not the cause of nothing is of no interest.
  }
  std::vector<const Considered*> rivals;
  for (const Considered& one : considered) {
    if (WasARival(one)) {
      rivals.push_back(&one);
    }
  }
  std::stable_sort(rivals.begin(), rivals.end(), [](const Considered* a, const Considered* b) {
    return a->log_odds > b->log_odds;
  });
  rivals.resize(std::min(rivals.size(), kRuledOutMax));
  for (const Considered* rival : rivals) {
    verdict.ruled_out.push_back({std::string(rival->declared->id), rival->ruled_out});
  }
}

}  // namespace whystop
