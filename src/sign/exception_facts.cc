#include "sign/exception_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sign/account/account.h"
#include "sign/account/notebook.h"
#include "sign/message_point.h"

namespace whystop {
namespace {

const Frame* UsersFrame(const ExceptionSeen& exception) {
  for (auto frame = exception.frames.rbegin(); frame != exception.frames.rend(); ++frame) {
    if (frame->users_own) {
      return &*frame;
    }
  }
  return nullptr;
}

bool ContainsAny(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

}  // namespace

bool IsShell(const std::vector<std::string>& command) {
  if (command.empty()) {
    return false;
  }
  const std::string_view name = std::string_view(command[0]).substr(command[0].find_last_of('/') + 1);
  constexpr std::string_view kShells[] = {"sh", "bash", "dash", "zsh", "ksh", "fish", "make"};
  return std::find(std::begin(kShells), std::end(kShells), name) != std::end(kShells) ||
         name.ends_with(".sh");
}

bool RunsOneCommand(const std::vector<std::string>& command) {
  return IsShell(command) && command.size() == 3 && command[1] == "-c" && command[2].find_first_of(";|&\n`(") == std::string::npos;
}

bool IsLaunchersReport(const ExceptionSeen& exception) {
  constexpr std::string_view kTypes[] = {"ChildFailedError", "CalledProcessError",
                                         "ProcessExitedException", "ProcessRaisedException",
                                         "SignalException"};
  return ContainsAny(exception.type, kTypes);
}

bool IsEchoOfAnotherRank(const ExceptionSeen& exception) {
  constexpr std::string_view kPhrases[] = {"remote process exited",
                                           "Connection closed by peer",
                                           "Connection reset by peer",
                                           "NCCL communicator was aborted",
                                           "Horovod has been shut down",
                                           "one of the ranks",
                                           "Broken pipe"};
  return ContainsAny(exception.message, kPhrases);
}

namespace {

/// Of one type, and raised at the same place.
bool AreAlike(const ExceptionSeen& one, const ExceptionSeen& other) {
  return one.type == other.type && !one.frames.empty() && !other.frames.empty() &&
         one.frames.back().file == other.frames.back().file && one.frames.back().line == other.frames.back().line;
}

/// What was printed is no end where the like of it was survived before, or where a probe tells of it: its word was weighed already.
bool IsToldOtherwise(const CaseFile& run, const ExceptionSeen& printed) {
  return std::any_of(run.exceptions.begin(), run.exceptions.end(), [&printed](const ExceptionSeen& other) {
    return (other.process || other.metrics_after > 0) && AreAlike(printed, other);
  });
}

bool WasPrintedLast(const CaseFile& run, const ExceptionSeen& told) {
  return std::any_of(run.exceptions.begin(), run.exceptions.end(), [&told](const ExceptionSeen& printed) {
    return !printed.process && printed.metrics_after == 0 && AreAlike(printed, told);
  });
}

/// Shells and pipes return the status of their last command: an exception that nothing caught ended its own process all
/// the same. Of helpers beside a training that went on it says nothing.
const ExceptionSeen* FindBehindTheStatus(const CaseFile& run) {
  const auto trained = TrainingProcess(run);
  // A program of the script that never was to train, behind one that had done all it planned: a plot, an upload.
  const bool plan_is_done = run.progress.epoch && run.progress.epochs_planned && *run.progress.epoch >= *run.progress.epochs_planned;
  for (const ExceptionSeen& exception : run.exceptions) {
    if (!trained && plan_is_done && exception.process && exception.metrics_after == 0 && !WasToTrain(run, *exception.process)) {
      continue;
    }
    const bool of_child = exception.process && run.start && *exception.process != run.start->pid &&
                          (!trained || trained == exception.process || WasToTrain(run, *exception.process));
    // What a program printed may be collected after it has died: a trainer's own word is enough, or that it stands printed behind all figures.
    const bool was_last = trained == exception.process || exception.metrics_after == 0 || WasPrintedLast(run, exception);
    if (of_child && exception.ended_process && was_last &&
        exception.type != "SystemExit") {
      return &exception;
    }
  }
  // Without a probe in it the text must do, where the job itself is no Python that could have printed it and gone on.
  const bool by_shell = run.start && !run.probe_loaded && IsShell(run.start->command);
  for (const ExceptionSeen& exception : run.exceptions) {
    if (by_shell && !exception.process && exception.ended_process && exception.metrics_after == 0 &&
        !exception.frames.empty() && !IsToldOtherwise(run, exception)) {
      return &exception;
    }
  }
  return nullptr;
}

/// A kernel outlives what its cells raise. At its end the probe tells whether the last cell had.
const ExceptionSeen* FindLastOfNotebook(const CaseFile& run) {
  const auto last = std::find_if(run.exceptions.rbegin(), run.exceptions.rend(),
                                 [](const ExceptionSeen& exception) { return exception.ended_process; });
  return last == run.exceptions.rend() ? nullptr : &*last;
}

}  // namespace

const ExceptionSeen* FindEndingException(const CaseFile& run) {
  if (IsNotebookKernel(run)) {
    return FindLastOfNotebook(run);
  }
  if (run.ExitCode() == 0) {
    return FindBehindTheStatus(run);
  }
  if (run.text_end && run.text_end->kind == TextEnd::Kind::kCompleted) {
    return nullptr;
  }
  // The earliest that nothing but teardown followed: later ones are its consequences in other ranks
  // and threads. What only tells of another process's end is taken for want of a better one.
  const ExceptionSeen* ending = nullptr;
  const ExceptionSeen* told = nullptr;
  for (const ExceptionSeen& exception : run.exceptions) {
    if (exception.ended_process && !IsLaunchersReport(exception) &&
        !IsEchoOfAnotherRank(exception)) {
      return &exception;
    }
    if (exception.ended_process) {
      told = told == nullptr ? &exception : told;
      continue;
    }
    if (exception.metrics_after == 0 && ending == nullptr) {
      ending = &exception;
    }
  }
  // With a signal as the end, a traceback that the program did not call its last is an old story.
  return told != nullptr ? told : run.Signal() != 0 ? nullptr : ending;
}

const ExceptionSeen* FindOwnException(const CaseFile& run) {
  const ExceptionSeen* ending = FindEndingException(run);
  const bool own = ending != nullptr && ending->ended_process && ending->last_line > 0 &&
                   !IsLaunchersReport(*ending) && !IsEchoOfAnotherRank(*ending);
  return own ? ending : nullptr;
}

StackPlace InnermostUsersFrame(const ExceptionSeen& exception) {
  const Frame* frame = UsersFrame(exception);
  return frame == nullptr ? StackPlace{} : StackPlace{true, frame->file, frame->line};
}

std::string PointOf(const ExceptionSeen& exception) {
  const bool workers = exception.in_worker && !exception.first_type.empty();
  const std::string& message = workers ? exception.first_message : exception.message;
  return (workers ? exception.first_type : exception.type) + (message.empty() ? "" : ": " + PointOfMessage(message));
}

std::string DescribeException(const ExceptionSeen& exception) {
  std::string text = PointOf(exception);
  if (const Frame* frame = UsersFrame(exception)) {
    text += fmt::format(", at {}:{}", frame->file, frame->line);
    if (!frame->function.empty()) {
      text += " in " + frame->function;
    }
    if (!frame->source.empty()) {
      text += fmt::format(": `{}`", frame->source);
    }
  }
  return text;
}

}  // namespace whystop
