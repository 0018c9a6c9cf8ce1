#include "view/observation_mark.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "base/human.h"
#include "model/observations.h"

namespace whystop {
namespace {

/// "train.py:31".
template <typename Seen>
std::string PlaceOf(const Seen& seen) {
  const std::string file = seen.file.value_or("");
  const std::string name = file.substr(file.rfind('/') + 1);
  return seen.line ? fmt::format("{}:{}", name, *seen.line) : name;
}

std::string Lasting(std::optional<double> seconds) {
  return HumanDuration(std::chrono::nanoseconds(std::llround(seconds.value_or(0) * 1e9)));
}

TimeMark Mark(std::string_view kind, std::string text, bool grave) {
  return {RunTime{}, std::nullopt, std::string(kind), std::move(text), grave};
}

TimeMark Say(const seen::LoopExit& seen) {
  const std::string how = seen.how.value_or("");
  const std::string condition = seen.condition.value_or("");
  return Mark("loop",
              fmt::format("loop left by {} at {}{}{}", how, PlaceOf(seen),
                          condition.empty() ? "" : ": ", condition),
              how != "end");
}

TimeMark Say(const seen::FrameworkStop& seen) {
  return Mark("loop", seen.who.value_or("") + " asked to stop", true);
}

TimeMark Say(const seen::Nonfinite& seen) {
  return Mark("not finite", seen.first.value_or("value") + " not finite", true);
}

TimeMark Say(const seen::ExceptionCaught& seen) {
  return Mark("exception", fmt::format("{} caught at {}", seen.type.value_or(""), PlaceOf(seen)),
              false);
}

TimeMark Say(const seen::SessionResumed&) {
  return Mark("resumed", "went on from a checkpoint", false);
}

TimeMark Say(const seen::CheckpointLoaded& seen) {
  return Mark("checkpoint", "an earlier state was loaded into " + seen.optimizer.value_or(""),
              false);
}

TimeMark Say(const seen::Phase& seen) { return Mark("phase", seen.phase.value_or(""), false); }

TimeMark Say(const seen::Hang& seen) {
  return Mark("hang",
              fmt::format("no progress for {}; the last sign was {}", Lasting(seen.silence_s),
                          seen.last_sign.value_or("")),
              true);
}

TimeMark Say(const seen::HangOver& seen) {
  return Mark("hang", "went on after " + Lasting(seen.after_s), false);
}

struct Sayer {
  std::string_view kind;
  TimeMark (*say)(const Observation& seen);
};

template <typename Seen>
constexpr Sayer Of() {
  return {Seen::kKind, [](const Observation& seen) { return Say(As<Seen>(seen)); }};
}

constexpr Sayer kSayers[] = {
    Of<seen::LoopExit>(),        Of<seen::FrameworkStop>(),    Of<seen::Nonfinite>(),
    Of<seen::ExceptionCaught>(), Of<seen::SessionResumed>(),   Of<seen::CheckpointLoaded>(),
    Of<seen::Phase>(),           Of<seen::Hang>(),             Of<seen::HangOver>(),
};

}  // namespace

std::optional<TimeMark> MarkOf(const Observation& seen, RunTime at) {
  for (const Sayer& sayer : kSayers) {
    if (sayer.kind == seen.kind) {
      TimeMark mark = sayer.say(seen);
      mark.at = at;
      mark.step = seen.step;
      return mark;
    }
  }
  return std::nullopt;
}

}  // namespace whystop
