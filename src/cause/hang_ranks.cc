#include "cause/hang_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace whystop {
namespace {

/// The exchange that a rank takes part in and the user's line that asked for it, "all_reduce at
/// train.py:12 in step"; nullopt: the rank is somewhere else.
std::optional<std::string> ExchangeText(const ProcessLook& process) {
  const ThreadLook* main = process.MainThread();
  const auto call = main == nullptr ? std::nullopt : ExchangeOf(*main);
  const Frame* own = call ? InnermostOwn(main->frames) : nullptr;
  return call ? std::optional(*call + " at " + (own == nullptr ? "" : PlaceText(*own))) : call;
}

bool IsMeeting(const ProcessLook& process) {
  const ThreadLook* main = process.MainThread();
  return main != nullptr && (FrameOf(*main, "/torch/distributed/rendezvous.py") != nullptr ||
                             FrameOf(*main, "/elastic/rendezvous/") != nullptr);
}

std::string ListOf(const std::vector<int>& numbers) {
  std::string text = numbers.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  }
  return text;
}

/// The ranks of the job that no process has any more.
std::vector<int> GoneRanks(const std::vector<const ProcessLook*>& ranks) {
  std::vector<int> gone;
  std::set<int> here;
  int all = 0;
  for (const ProcessLook* process : ranks) {
    if (process->state != 'Z') {
      here.insert(process->rank.value_or(0));
    }
    all = std::max(all, process->ranks.value_or(1));
  }
  constexpr int kListedMax = 4096;
  for (int rank = 0; rank < std::min(all, kListedMax); ++rank) {
    if (!here.contains(rank)) {
      gone.push_back(rank);
    }
  }
  return gone;
}

/// "; processes made 3 and 5 steps": who left early made fewer.
std::string StepsText(const HangFacts& hang) {
  std::set<std::int64_t> steps;
  for (const HangFacts::Stepped& stepped : hang.steps) {
    steps.insert(stepped.step);
  }
  return steps.size() < 2 ? ""
                          : fmt::format("; the processes made between {} and {} steps",
                                        *steps.begin(), *steps.rbegin());
}

}  // namespace

HangKind ClassifyRanks(const HangFacts& hang, const std::vector<const ProcessLook*>& ranks) {
  std::vector<int> waiting;
  const ProcessLook* waits = nullptr;
  const ProcessLook* odd = nullptr;
  std::map<std::string, const ProcessLook*> exchanges;
  for (const ProcessLook* process : ranks) {
    if (IsMeeting(*process)) {
      return {"rendezvous-stuck", process, "it waits for the other ranks to appear"};
    }
    const auto exchange = ExchangeText(*process);
    if (!exchange) {
      odd = odd == nullptr ? process : odd;
      continue;
    }
    waiting.push_back(process->rank.value_or(0));
    waits = waits == nullptr ? process : waits;
    exchanges.try_emplace(*exchange, process);
  }
  if (waits == nullptr) {
    return {{}, nullptr, {}, false};
  }
  const std::string where = fmt::format("{} wait{} in {}", ListOf(waiting),
                                        waiting.size() == 1 ? "s" : "", exchanges.begin()->first);
  if (const std::vector<int> gone = GoneRanks(ranks); !gone.empty() && odd == nullptr) {
    return {"uneven-inputs", waits,
            fmt::format("{}, and {} {} left already{}", where, ListOf(gone),
                        gone.size() == 1 ? "has" : "have", StepsText(hang))};
  }
  if (odd != nullptr) {
    const ThreadLook* main = odd->MainThread();
    const bool leaving = odd->finalizing || odd->state == 'Z' ||
                         (main != nullptr && !main->frames.empty() &&
                          InnermostOwn(main->frames) == nullptr &&
                          main->frames.front().function != "<module>");
    if (leaving) {
      return {"uneven-inputs", waits,
              fmt::format("{}, and rank {} has left the loop and is shutting down{}", where,
                          odd->rank.value_or(0), StepsText(hang))};
    }
    return {{}, odd, fmt::format("{} for rank {}; ", where, odd->rank.value_or(0)), false};
  }
  if (exchanges.size() > 1) {
    std::string text;
    for (const auto& [name, one] : exchanges) {
      text += fmt::format("{}rank {} is in {}", text.empty() ? "" : ", ", one->rank.value_or(0),
                          name);
    }
    return {"collective-mismatch", exchanges.begin()->second,
            "the ranks take part in different exchanges: " + text};
  }
  return {"collective-timeout", waits,
          where + (ranks.size() > 1 ? ", all in the same exchange, which does not end"
                                    : ", for ranks that this machine does not see"),
          false};
}

}  // namespace whystop
