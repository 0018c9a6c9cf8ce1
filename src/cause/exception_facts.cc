#include "cause/exception_facts.h"

#include <fmt/format.h>

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

}  // namespace

const ExceptionSeen* FindEndingException(const CaseFile& run) {
  if (run.ExitCode() == 0 || (run.text_end && run.text_end->kind == TextEnd::Kind::kCompleted)) {
    return nullptr;
  }
  // The earliest that nothing but teardown followed: later ones are its consequences in other ranks and threads.
  const ExceptionSeen* ending = nullptr;
  for (const ExceptionSeen& exception : run.exceptions) {
    if (exception.ended_process) {
      return &exception;
    }
    if (exception.metrics_after == 0 && ending == nullptr) {
      ending = &exception;
    }
  }
  // With a signal as the end, a traceback that the program did not call its last is an old story.
  return run.Signal() != 0 ? nullptr : ending;
}

StackPlace InnermostUsersFrame(const ExceptionSeen& exception) {
  const Frame* frame = UsersFrame(exception);
  return frame == nullptr ? StackPlace{} : StackPlace{true, frame->file, frame->line};
}

std::string DescribeException(const ExceptionSeen& exception) {
  std::string text = exception.type;
  if (!exception.message.empty()) {
    text += ": " + exception.message;
  }
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
