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

}  // namespace

void TellRivals(const std::vector<Candidate>& candidates,
                const std::vector<Considered>& considered, Verdict& verdict) {
  TellOpenQuestion(candidates, verdict);
  if (!IsSick(verdict)) {
    return;  // What was not the cause of nothing is of no interest.
  }
  std::size_t told = 0;
  for (const Considered& one : considered) {
    if (!one.ruled_out.empty() && told < kRuledOutMax) {
      verdict.ruled_out.push_back({std::string(one.declared->id), one.ruled_out});
      ++told;
    }
  }
}

}  // namespace whystop
