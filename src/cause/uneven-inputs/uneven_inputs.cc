#include <fmt/format.h>

#include <algorithm>

#include "cause/evidence.h"
#include "cause/hang_weighers.h"
#include "cause/rank_facts.h"
#include "cause/weigh_hang.h"
#include "model/observations.h"
#include "sign/exception_facts.h"

namespace whystop {
namespace {

/// A process of the job failed by itself: then it did not merely leave.
bool SomeRankFailed(const CaseFile& run) {
  const auto first = FindFirstFailure(run);
  const bool killed = first && first->status < 0;
  const bool died = std::any_of(
      run.process_ends.begin(), run.process_ends.end(),
      [](const ProcessEnd& ended) { return ended.end && ended.end->signal() != 0; });
  return SomeRankRaised(run) || killed || died || run.Signal() != 0;
}

/// The rank that met a closed connection in the middle of an exchange. A backward pass exchanges
/// gradients where no frame of Python's shows it, but who does it says so in the message.
const ExceptionSeen* FindLeftAlone(const CaseFile& run) {
  for (const ExceptionSeen& exception : run.exceptions) {
    const bool exchanges =
        exception.message.find("/gloo/") != std::string::npos ||
        std::any_of(exception.frames.begin(), exception.frames.end(), [](const Frame& frame) {
          return frame.file.find("/torch/distributed/") != std::string::npos;
        });
    if (exchanges && exception.ended_process && IsEchoOfAnotherRank(exception)) {
      return &exception;
    }
  }
  return nullptr;
}

/// How a loop was left on purpose, which is not the way in which the one that was left alone ended.
const Observation* FindLeaving(const CaseFile& run) {
  for (const Observation& seen : run.observations) {
    if (seen.kind != seen::LoopExit::kKind) {
      continue;
    }
    const auto how = As<seen::LoopExit>(seen).how;
    if (how == "break" || how == "return" || how == "end") {
      return &seen;
    }
  }
  return nullptr;
}

}  // namespace

void WeighUnevenInputs(const CaseFile& run, Hypothesis& out) {
  WeighHang(run, "uneven-inputs", out);
  const ExceptionSeen* alone = FindLeftAlone(run);
  if (alone == nullptr || SomeRankFailed(run)) {
    return;
  }
  Evidence met = Supports("exception", RankPrefix(run, alone->rank) + DescribeException(*alone));
  met.place = alone->place;
  const Observation* left = FindLeaving(run);
  if (left == nullptr) {
    out.Add(std::move(met));
    out.Add(Missing("stack", "where the other rank left could not be seen"));
    return;
  }
  const auto exit = As<seen::LoopExit>(left);
  const std::string file = exit.file.value_or("");
  const std::int64_t line = exit.line.value_or(0);
  const std::string values = exit.values.value_or("");
  Evidence leaving = Decisive(
      "stack",
      fmt::format("{} left its loop by itself ({} at {}:{}{}) and ended, while another rank waited "
                  "for it in the next exchange",
                  left->rank ? fmt::format("rank {}", *left->rank) : std::string("one rank"),
                  exit.how.value_or(""), file.substr(file.rfind('/') + 1), line,
                  values.empty() ? "" : "; " + values));
  leaving.place = {file, line};
  out.Add(std::move(leaving));
  out.Add(std::move(met));
}

}  // namespace whystop
