#include "diagnose/headline.h"

#include <fmt/format.h>

#include <cmath>

#include "base/human.h"

namespace whystop {
namespace {

std::string Where(const Verdict& verdict) {
  const auto& progress = verdict.progress;
  if (progress.epoch && progress.epochs_planned) {
    return fmt::format(" in epoch {} of {}", HumanNumber(*progress.epoch), HumanNumber(*progress.epochs_planned));
  }
  if (progress.step && progress.steps_planned) {
    return fmt::format(" at step {} of {}", HumanCount(*progress.step), HumanCount(*progress.steps_planned));
  }
  if (progress.epoch) {
    return fmt::format(" in epoch {}", HumanNumber(*progress.epoch));
  }
  if (progress.step) {
    return fmt::format(" at step {}", HumanCount(*progress.step));
  }
  return progress.seconds ? " after " + HumanDuration(std::chrono::nanoseconds(std::llround(*progress.seconds * 1e9)))
                          : "";
}

std::string How(const Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kCompleted:
      return "completed";
    case Outcome::kStoppedEarly:
      return verdict.exit.code.value_or(0) == 0 ? "stopped early, by the program itself"
                                                : fmt::format("stopped by the program itself with status {}", *verdict.exit.code);
    case Outcome::kRaised:
      return "ended by an error";
    case Outcome::kCrashed:
      return verdict.exit.signal ? "crashed by " + SignalName(*verdict.exit.signal) : "crashed";
    case Outcome::kKilled:
      return verdict.exit.signal ? "killed by " + SignalName(*verdict.exit.signal) : "killed";
    case Outcome::kInterrupted:
      return "interrupted";
    case Outcome::kHung:
      return "alive but stuck";
    case Outcome::kRunning:
      return "still running";
    case Outcome::kUnknown:
      break;
  }
  return "ended, and nothing here says how";
}

/// The fault that answers the question; a normal end needs no explanation.
const VerdictCause* Blamed(const Verdict& verdict, Answers answers) {
  for (const VerdictCause& cause : verdict.causes) {
    if (cause.fault && cause.role == CauseRole::kRoot && cause.answers == answers) {
      return &cause;
    }
  }
  return nullptr;
}

std::string Told(const VerdictCause& cause) {
  const std::string title = cause.title.empty() ? cause.id : cause.title;
  return cause.confidence == Confidence::kCertain ? title : fmt::format("{} ({})", title, Name(cause.confidence));
}

}  // namespace

std::string Ending(const CaseFile& run, const Verdict& verdict) {
  if (Blamed(verdict, Answers::kStop) == nullptr && !run.notes.empty() && run.notes.front().rfind("could not start", 0) == 0) {
    return run.notes.front();
  }
  return How(verdict) + (verdict.outcome == Outcome::kUnknown && !run.watched ? "" : Where(verdict));
}

std::string Headline(const Verdict& verdict) {
  std::string text = verdict.ending;
  const VerdictCause* stop = Blamed(verdict, Answers::kStop);
  if (stop != nullptr) {
    text += ": " + Told(*stop);
  }
  if (const VerdictCause* learning = Blamed(verdict, Answers::kLearning)) {
    text += (stop == nullptr ? "; it learns badly: " : "; and it learned badly: ") + Told(*learning);
  }
  return text;
}

}  // namespace whystop
