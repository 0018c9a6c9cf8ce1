#include "stream/exception_texts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/shown_text.h"
#include "model/observations.h"
#include "text/signature_matcher.h"

namespace whystop {
namespace {

constexpr std::size_t kLineShownBytes = 500;
constexpr std::size_t kLinesMax = 64;  // A worker's message holds its traceback.

struct Told {
  std::string text;  // "ValueError: bad shape"
  Place place;
};

std::string Joined(const std::string& type, const std::string& message) {
  return type + (message.empty() ? "" : ": " + message);
}

Told ToldBy(const ExceptionSeen& seen) {
  Told told{Joined(seen.type, seen.message), {}};
  if (!seen.first_type.empty()) {
    told.text += "\n" + Joined(seen.first_type, seen.first_message);
  }
  for (const Frame& frame : seen.frames) {
    if (frame.users_own) {
      told.place = {frame.file, frame.line};
    }
  }
  return told;
}

template <typename Seen>
Told ToldAt(const Seen& seen) {
  return {Joined(seen.type.value_or(""), seen.message.value_or("")),
          {seen.file.value_or(""), seen.line.value_or(0)}};
}

std::optional<Told> ToldBy(const Observation& one) {
  if (one.kind == "exception-caught") {
    return ToldAt(As<seen::ExceptionCaught>(one));
  }
  if (one.kind == "framework-failed") {
    return ToldAt(As<seen::FrameworkFailed>(one));
  }
  if (one.kind == "call-failed") {
    const auto failed = As<seen::CallFailed>(one);
    return Told{Joined(failed.type.value_or(""), failed.message.value_or("")), {}};
  }
  if (one.kind == "loop-exit") {
    const auto exit = As<seen::LoopExit>(one);
    return exit.error_type ? std::optional(Told{Joined(*exit.error_type, exit.error_message.value_or("")),
                                                {exit.file.value_or(""), exit.line.value_or(0)}})
                           : std::nullopt;
  }
  return std::nullopt;
}

/// An exception's text can say why. That a run ended as planned, or advice, is for logs.
bool SaysWhy(const Signature& row) {
  return row.role == LogFact::Role::kRoot || row.role == LogFact::Role::kConfirm ||
         row.role == LogFact::Role::kCascade;
}

void PushLine(std::string_view line, const Place& place, const Event& event, std::int64_t process, EventSink& out) {
  for (const SignatureMatcher::Match& match : SignatureMatcher::Shared().MatchLine(line)) {
    const Signature& row = *match.signature;
    if (!SaysWhy(row)) {
      continue;
    }
    LogFact fact;
    fact.cause = std::string(row.cause);
    fact.role = row.role;
    fact.line = ShownText(line, kLineShownBytes);
    for (const std::string& capture : match.captures) {
      fact.captures.push_back(ShownText(capture, kLineShownBytes));
    }
    fact.place = place;
    fact.generic = row.generic;
    fact.fatal = row.severity == Signature::Severity::kFatal;
    fact.process = process;
    out.Push({event.at, std::move(fact)});
  }
}

void PushLines(const Told& told, const Event& event, std::int64_t process, EventSink& out) {
  std::string_view rest = told.text;
  for (std::size_t lines = 0; !rest.empty() && lines < kLinesMax; ++lines) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    PushLine(rest.substr(0, end), told.place, event, process, out);
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
}

}  // namespace

void ExceptionTexts::Push(const Event& event) {
  out_.Push(event);
  if (const auto* seen = event.As<ExceptionSeen>(); seen != nullptr && seen->process) {
    PushLines(ToldBy(*seen), event, *seen->process, out_);
  } else if (const auto* one = event.As<Observation>(); one != nullptr && one->process) {
    if (const auto told = ToldBy(*one)) {
      PushLines(*told, event, *one->process, out_);
    }
  }
}

}  // namespace whystop
