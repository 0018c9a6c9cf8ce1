#include "model/verdict.h"

#include <algorithm>

namespace whystop {

std::string_view Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted:
      return "completed";
    case Outcome::kStoppedEarly:
      return "stopped-early";
    case Outcome::kRaised:
      return "raised";
    case Outcome::kCrashed:
      return "crashed";
    case Outcome::kKilled:
      return "killed";
    case Outcome::kInterrupted:
      return "interrupted";
    case Outcome::kHung:
      return "hung";
    case Outcome::kRunning:
      return "running";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view Name(Learning learning) {
  switch (learning) {
    case Learning::kImproving:
      return "improving";
    case Learning::kConverged:
      return "converged";
    case Learning::kStalled:
      return "stalled";
    case Learning::kDiverged:
      return "diverged";
    case Learning::kNeverLearned:
      return "never-learned";
    case Learning::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view Name(Answers answers) { return answers == Answers::kStop ? "stop" : "learning"; }

std::string_view Name(CauseRole role) {
  switch (role) {
    case CauseRole::kRoot:
      return "root";
    case CauseRole::kConsequence:
      return "consequence";
    case CauseRole::kContributing:
      break;
  }
  return "contributing";
}

std::string_view Name(Confidence confidence) {
  switch (confidence) {
    case Confidence::kCertain:
      return "certain";
    case Confidence::kLikely:
      return "likely";
    case Confidence::kPossible:
      break;
  }
  return "possible";
}

int ExitCodeOf(const Verdict& verdict) {
  if (std::any_of(verdict.causes.begin(), verdict.causes.end(),
                  [](const VerdictCause& cause) { return cause.fault; })) {
    return 1;
  }
  switch (verdict.outcome) {
    case Outcome::kCompleted:
    case Outcome::kRunning:
    case Outcome::kStoppedEarly:
      return 0;
    case Outcome::kUnknown:
      return 3;
    default:
      return 1;
  }
}

}  // namespace whystop
