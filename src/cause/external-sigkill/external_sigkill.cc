#include <fmt/format.h>

#include <csignal>

#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/rank_facts.h"
#include "cause/weighers.h"

namespace whystop {

namespace {

/// Most kills without a known sender are the kernel's: ask for that first.
void AskForMemory(Hypothesis& out) {
  out.Add(Missing("sample", "no out-of-memory counter could be read, so memory is not ruled out"));
  out.Fix(
      "look for a memory kill before anything else: dmesg -T | grep -i 'killed process', sacct -j "
      "JOBID -o "
      "State,MaxRSS,ReqMem, kubectl describe pod (OOMKilled)");
}

/// One rank of a job was killed, and its launcher ended the others: the launcher says which. False: it was not so.
bool WeighKilledRank(const CaseFile& run, Hypothesis& out) {
  const auto first = FindFirstFailure(run);
  const MemoryFacts memory = ReadMemoryFacts(run);
  if (!first || first->status != -SIGKILL || SomeRankRaised(run) || memory.cgroup_kills.value_or(0) > 0 ||
      memory.host_kills.value_or(0) > 0) {
    return false;
  }
  const std::string who = fmt::format("rank {} (process {})", first->rank.value_or(static_cast<int>(first->local_rank)),
                                      first->process);
  out.Add(Decisive("exit-status", fmt::format("{} was ended by SIGKILL before any other rank failed; no out-of-memory kill was "
                                              "counted", who)));
  if (const LastPlace last = LastPlaceOf(run, first->process); !last.text.empty()) {
    Evidence where = Supports("stack", fmt::format("{} was {}", who, last.text));
    where.place = last.place;
    out.Add(std::move(where));
  }
  return true;
}

}  // namespace

void WeighExternalSigkill(const CaseFile& run, Hypothesis& out) {
  const bool killed_rank = WeighKilledRank(run, out);
  if (killed_rank || SignalOfJob(run) != SIGKILL) {
    if (!run.watched && run.FindLog("external-sigkill", LogFact::Role::kConfirm) != nullptr) {
      AskForMemory(out);
    }
    return;
  }
  const MemoryFacts memory = ReadMemoryFacts(run);
  const bool counters_flat =
      memory.cgroup_kills.value_or(0) == 0 && memory.host_kills.value_or(0) == 0;
  const bool counters_seen = memory.cgroup_kills || memory.host_kills;
  if (memory.cgroup_kill_line || memory.host_kill_line) {
    return;
  }
  const bool child = SignalOfStatus(run) == 0;  // The program raised because of it.
  out.Add(Supports("exit-status",
                   std::string(child ? "a process that the program had started ended" : "the job ended") +
                       " by SIGKILL, which only another process, the kernel or an "
                   "administrator can send and no program can catch"));
  if (counters_seen && counters_flat) {
    const std::string figures = memory.Figures();
    out.Add(Decisive(
        "sample", "no out-of-memory kill was counted" + (figures.empty() ? "" : "; " + figures)));
  } else if (!counters_seen) {
    AskForMemory(out);
  } else if (memory.cgroup_kills && *memory.cgroup_kills == 0 && !memory.HostWasShort()) {
    const std::string figures = memory.Figures();
    out.Add(Supports("cgroup-counter",
                     fmt::format("the machine counted {} out-of-memory kill{} in that time, but none in the "
                                 "run's own control group: another job's{}",
                                 memory.host_kills.value_or(0),
                                 memory.host_kills.value_or(0) == 1 ? "" : "s",
                                 figures.empty() ? "" : "; here " + figures)));
  } else {
    out.Add(Contradicts("sample", "an out-of-memory kill was counted during the run"));
  }
}

}  // namespace whystop
