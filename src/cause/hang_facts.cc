#include "cause/hang_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/parse.h"
#include "model/observations.h"

namespace whystop {
namespace {

/// "4711 812 3.250": process, step, seconds ago.
std::vector<HangFacts::Stepped> ReadSteps(std::string_view text) {
  std::vector<HangFacts::Stepped> steps;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    const std::size_t first = std::min(line.find(' '), line.size());
    const std::size_t second = std::min(line.find(' ', first + 1), line.size());
    const auto pid = ParseWhole<std::int64_t>(line.substr(0, first));
    const auto step = first < second
                          ? ParseWhole<std::int64_t>(line.substr(first + 1, second - first - 1))
                          : std::nullopt;
    if (pid && step) {
      steps.push_back({*pid, *step});
    }
  }
  return steps;
}

std::int64_t CpuOf(const ProcessLook& process) {
  std::int64_t sum = 0;
  for (const ThreadLook& thread : process.threads) {
    sum += thread.cpu_ms;
  }
  return sum;
}

/// Of a program that a signal ended, or that turned Ctrl-C into an exception.
bool WasEndedFromOutside(const CaseFile& run) {
  const auto code = run.ExitCode();
  return run.Signal() != 0 || (code && *code > 128) ||
         std::any_of(run.exceptions.begin(), run.exceptions.end(),
                     [](const ExceptionSeen& seen) { return seen.type == "KeyboardInterrupt"; });
}

}  // namespace

const ProcessLook* HangFacts::Find(std::int64_t pid) const {
  const auto found = std::find_if(processes.begin(), processes.end(),
                                  [pid](const ProcessLook& one) { return one.pid == pid; });
  return found == processes.end() ? nullptr : &*found;
}

const ProcessLook* HangFacts::Trainer() const {
  const ProcessLook* best = nullptr;
  std::int64_t furthest = 0;
  for (const Stepped& stepped : steps) {
    const ProcessLook* process = Find(stepped.pid);
    if (process != nullptr && stepped.step > furthest) {
      furthest = stepped.step;
      best = process;
    }
  }
  if (best != nullptr) {
    return best;
  }
  for (const ProcessLook& process : processes) {
    const bool better = best == nullptr || (process.rank && !best->rank);
    if (!process.python.empty() && better) {
      best = &process;
    }
  }
  if (best == nullptr) {  // No Python: the process that has worked most.
    for (const ProcessLook& process : processes) {
      best = best == nullptr || CpuOf(process) > CpuOf(*best) ? &process : best;
    }
  }
  return best;
}

std::vector<const ProcessLook*> HangFacts::Ranks() const {
  std::vector<const ProcessLook*> ranks;
  for (const ProcessLook& process : processes) {
    const bool is_child_of_rank =
        std::any_of(ranks.begin(), ranks.end(),
                    [&process](const ProcessLook* one) { return one->rank == process.rank; });
    if (process.rank && process.ranks.value_or(1) > 1 && !is_child_of_rank) {
      ranks.push_back(&process);
    }
  }
  std::sort(ranks.begin(), ranks.end(),
            [](const ProcessLook* a, const ProcessLook* b) { return *a->rank < *b->rank; });
  return ranks;
}

std::optional<HangFacts> ReadHang(const CaseFile& run) {
  const Observation* hang = run.FindObservation("hang");
  const auto hang_seen = As<seen::Hang>(hang);
  if (hang == nullptr) {
    return std::nullopt;
  }
  const std::int64_t episode = hang_seen.episode.value_or(0);
  const Observation* over = run.FindObservation("hang-over");
  if (over != nullptr && As<seen::HangOver>(*over).episode == episode) {
    return std::nullopt;
  }
  HangFacts facts;
  facts.how = hang_seen.how.value_or("");
  facts.silence_s = hang_seen.silence_s.value_or(0);
  facts.attached = hang_seen.attached.value_or(false);
  facts.limit_reason = hang_seen.limit_reason.value_or("");
  facts.last_sign = hang_seen.last_sign.value_or("");
  facts.steps = ReadSteps(hang_seen.steps.value_or(""));
  for (const Observation& seen : run.observations) {
    if (seen.kind == "look" && As<seen::Look>(seen).episode == episode) {
      if (auto look = ToProcessLook(seen)) {
        facts.processes.push_back(std::move(*look));
      }
    }
  }
  return facts;
}

bool HungToTheEnd(const CaseFile& run) {
  if (run.end && run.end->end && !WasEndedFromOutside(run)) {
    return false;
  }
  return ReadHang(run).has_value();
}

std::string PlaceText(const Frame& frame) {
  const std::string name = frame.file.substr(frame.file.rfind('/') + 1);
  return fmt::format("{}:{} in {}{}", name, frame.line, frame.function,
                     frame.source.empty() ? "" : ": `" + frame.source + "`");
}

}  // namespace whystop
