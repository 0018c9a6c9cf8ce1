#include "cause/rank_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "base/human.h"
#include "base/parse.h"
#include "cause/hang_facts.h"
#include "model/observations.h"
#include "sign/exception_facts.h"

namespace whystop {
namespace {

const ProcessSteps* StepsOf(const CaseFile& run, std::int64_t process) {
  const auto found = std::find_if(run.steps.begin(), run.steps.end(),
                                  [process](const ProcessSteps& one) { return one.process == process; });
  return found == run.steps.end() ? nullptr : &*found;
}

/// The innermost loop that a process was in.
std::optional<seen::LoopPlan> LoopOf(const CaseFile& run, std::int64_t process) {
  std::optional<seen::LoopPlan> innermost;
  for (const Observation& observation : run.observations) {
    if (observation.kind == "loop-plan" && observation.process == process) {
      const auto plan = As<seen::LoopPlan>(observation);
      if (plan.file && plan.line && (!innermost || plan.level.value_or(0) >= innermost->level.value_or(0))) {
        innermost = plan;
      }
    }
  }
  return innermost;
}

/// "process 1 terminated with signal SIGKILL": in the words of torch.multiprocessing.spawn, which numbers
/// its processes as their ranks are, on one machine.
std::optional<FirstFailure> FindSpawnedFailure(const CaseFile& run) {
  constexpr std::string_view kBegin = "process ";
  constexpr std::string_view kKilled = " terminated with signal SIGKILL";
  for (const ExceptionSeen& seen : run.exceptions) {
    const std::string_view message = seen.message;
    if (seen.type.find("ProcessExitedException") == std::string::npos || !message.starts_with(kBegin) ||
        !message.ends_with(kKilled)) {
      continue;
    }
    const auto index =
        ParseWhole<int>(message.substr(kBegin.size(), message.size() - kBegin.size() - kKilled.size()));
    const auto steps = std::find_if(run.steps.begin(), run.steps.end(),
                                    [index](const ProcessSteps& one) { return one.rank && one.rank == index; });
    if (index && steps != run.steps.end()) {
      return FirstFailure{-SIGKILL, *index, steps->process, index};
    }
  }
  return std::nullopt;
}

}  // namespace

bool HasSeveralRanks(const CaseFile& run) {
  return std::any_of(run.steps.begin(), run.steps.end(),
                     [](const ProcessSteps& one) { return one.rank.value_or(0) > 0; }) ||
         std::any_of(run.exceptions.begin(), run.exceptions.end(),
                     [](const ExceptionSeen& one) { return one.rank.value_or(0) > 0; });
}

std::string RankPrefix(const CaseFile& run, std::optional<int> rank) {
  return rank && HasSeveralRanks(run) ? fmt::format("rank {}: ", *rank) : "";
}

std::optional<FirstFailure> FindFirstFailure(const CaseFile& run) {
  for (const LogFact& fact : run.log_facts) {
    if (fact.cause != "sibling-rank-failed" || fact.captures.size() < 3) {
      continue;
    }
    const auto status = ParseWhole<std::int64_t>(fact.captures[0]);
    const auto local_rank = ParseWhole<std::int64_t>(fact.captures[1]);
    const auto process = ParseWhole<std::int64_t>(fact.captures[2]);
    if (status && local_rank && process) {
      FirstFailure failure{*status, *local_rank, *process, std::nullopt};
      if (const ProcessSteps* steps = StepsOf(run, *process)) {
        failure.rank = steps->rank;
      }
      return failure;
    }
  }
  return FindSpawnedFailure(run);
}

bool SomeRankRaised(const CaseFile& run) {
  return std::any_of(run.exceptions.begin(), run.exceptions.end(), [](const ExceptionSeen& exception) {
    return exception.ended_process && !IsLaunchersReport(exception) && !IsEchoOfAnotherRank(exception);
  });
}

LastPlace LastPlaceOf(const CaseFile& run, std::int64_t process) {
  LastPlace out;
  for (const RankPlaces& one : ReadRankPlaces(run)) {
    if (one.process == process && !one.last.file.empty()) {
      out.text = "last seen at " + PlaceText(one.last);
      out.place = {one.last.file, one.last.line};
    }
  }
  if (const auto loop = LoopOf(run, process)) {
    const std::string name = loop->file->substr(loop->file->rfind('/') + 1);
    out.text += fmt::format("{}in the loop at {}:{}", out.text.empty() ? "" : ", ", name, *loop->line);
    out.place = out.place.file.empty() ? Place{*loop->file, *loop->line} : out.place;
  }
  if (const ProcessSteps* steps = StepsOf(run, process)) {
    out.text += fmt::format("{}after step {}", out.text.empty() ? "" : ", ", HumanCount(steps->last));
  }
  return out;
}

std::vector<RankPlaces> ReadRankPlaces(const CaseFile& run) {
  std::map<int, RankPlaces> newest;
  for (const Observation& observation : run.observations) {
    if (observation.kind != "rank-places" || !observation.rank) {
      continue;
    }
    const auto told = As<seen::RankPlaces>(observation);
    newest[*observation.rank] = {
        .rank = *observation.rank,
        .process = told.pid.value_or(0),
        .looks = static_cast<double>(told.looks.value_or(0)),
        .waiting = static_cast<double>(told.waiting.value_or(0)),
        .exchange = told.exchange.value_or(""),
        .there = static_cast<double>(told.there.value_or(0)),
        .frame = {.file = told.file.value_or(""), .line = told.line.value_or(0),
                  .function = told.function.value_or(""), .source = told.source.value_or("")},
        .last = {.file = told.last_file.value_or(""), .line = told.last_line.value_or(0),
                 .function = told.last_function.value_or(""), .source = {}}};
  }
  std::vector<RankPlaces> ranks;
  for (auto& [rank, places] : newest) {
    ranks.push_back(std::move(places));
  }
  return ranks;
}

}  // namespace whystop
