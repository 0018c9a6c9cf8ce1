#include "diagnose/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human.h"

namespace whystop {
namespace {

std::string Where(const Verdict& verdict) {
  const auto& progress = verdict.progress;
  if (progress.epoch && progress.epochs_planned) {
    return fmt::format(" in epoch {} of {}", HumanNumber(*progress.epoch),
                       HumanNumber(*progress.epochs_planned));
  }
  if (progress.step && progress.steps_planned) {
    return fmt::format(" at step {} of {}", HumanCount(*progress.step),
                       HumanCount(*progress.steps_planned));
  }
  if (progress.epoch) {
    return fmt::format(" in epoch {}", HumanNumber(*progress.epoch));
  }
  if (progress.step) {
    return fmt::format(" at step {}", HumanCount(*progress.step));
  }
  return progress.seconds
             ? " after " +
                   HumanDuration(std::chrono::nanoseconds(std::llround(*progress.seconds * 1e9)))
             : "";
}

/// Every epoch was begun, and something inside them was left out.
bool IsInTheLastEpoch(const Verdict& verdict) {
  const auto& progress = verdict.progress;
  return progress.epoch && progress.epochs_planned && *progress.epoch >= *progress.epochs_planned;
}

std::string How(const Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kCompleted:
      return "completed";
    case Outcome::kStoppedEarly:
      return verdict.exit.code.value_or(0) == 0
                 ? IsInTheLastEpoch(verdict) ? "ended by itself with less done than planned,"
                                             : "stopped early, by the program itself"
                 : fmt::format("stopped by the program itself with status {}", *verdict.exit.code);
    case Outcome::kRaised:
      return "ended by an error";
    case Outcome::kCrashed:
      return verdict.exit.signal ? "crashed by " + SignalName(*verdict.exit.signal) : "crashed";
    case Outcome::kKilled:
      return verdict.exit.signal      ? "killed by " + SignalName(*verdict.exit.signal)
             : verdict.exit.code == 0 ? "ended from outside, with status 0,"
                                      : "killed";
    case Outcome::kInterrupted:
      return "interrupted";
    case Outcome::kHung:
      return !verdict.exit.signal && !verdict.exit.code
                 ? "alive but stuck"
                 : "hung, and then " + (verdict.exit.signal
                                            ? "ended by " + SignalName(*verdict.exit.signal)
                                            : fmt::format("ended with status {}", *verdict.exit.code));
    case Outcome::kRunning:
      return "still running";
    case Outcome::kUnknown:
      break;
  }
  return "ended";
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

/// "KeyError: 'x', at train.py:3": says more than that something was raised.
std::string ShortException(const VerdictCause& cause) {
  constexpr std::size_t kTextMax = 140;
  for (const Evidence& evidence : cause.evidence) {
    if (evidence.kind == "exception") {
      const std::string line = evidence.text.substr(0, evidence.text.find('\n'));
      return line.size() <= kTextMax ? line : line.substr(0, line.rfind(' ', kTextMax)) + " ...";
    }
  }
  return cause.title;
}

/// The program's own words say that training was over before the end.
bool TrainingHadFinished(const CaseFile& run) {
  return std::any_of(run.log_facts.begin(), run.log_facts.end(), [&run](const LogFact& fact) {
    return fact.role == LogFact::Role::kNormal && fact.cause.starts_with("finished-") &&
           fact.metrics_after <= 3 + run.metric_points / 20;
  });
}

bool IsEmpty(const CaseFile& run) {
  return !run.watched && run.metric_points == 0 && run.log_facts.empty() &&
         run.exceptions.empty() && run.text_end && run.text_end->last_line.empty();
}

std::string Told(const VerdictCause& cause) {
  const std::string title = cause.title.empty()                ? cause.id
                            : cause.id == "uncaught-exception" ? ShortException(cause)
                                                               : cause.title;
  return cause.confidence == Confidence::kCertain
             ? title
             : fmt::format("{} ({})", title, Name(cause.confidence));
}

}  // namespace

std::string Ending(const CaseFile& run, const Verdict& verdict) {
  if (Blamed(verdict, Answers::kStop) == nullptr && !run.notes.empty() &&
      run.notes.front().rfind("could not start", 0) == 0) {
    return run.notes.front();
  }
  if (verdict.outcome == Outcome::kUnknown && IsEmpty(run)) {
    return "the log is empty";
  }
  const bool failed = verdict.outcome == Outcome::kRaised || verdict.outcome == Outcome::kCrashed;
  if (failed && TrainingHadFinished(run)) {
    return How(verdict) + " after training had finished";
  }
  // That a file was written a moment ago is all that is known of a run that nobody watched.
  const bool told_by_age = verdict.outcome == Outcome::kRunning && !run.watched && run.text_end && run.text_end->age;
  return How(verdict) + Where(verdict) + (verdict.outcome == Outcome::kUnknown ? ", and nothing here says how" : "") +
         (told_by_age ? fmt::format(" (last written {} ago)", HumanDuration(*run.text_end->age)) : "");
}

std::string Headline(const Verdict& verdict) {
  std::string text = verdict.ending;
  const VerdictCause* stop = Blamed(verdict, Answers::kStop);
  if (stop != nullptr) {
    text += ": " + Told(*stop);
  }
  if (const VerdictCause* learning = Blamed(verdict, Answers::kLearning)) {
    text +=
        (stop == nullptr ? "; it learns badly: " : "; and it learned badly: ") + Told(*learning);
  }
  return text;
}

}  // namespace whystop
