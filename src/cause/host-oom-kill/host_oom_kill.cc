#include <fmt/format.h>

#include <csignal>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighHostOomKill(const CaseFile& run, Hypothesis& out) {
  const MemoryFacts memory = ReadMemoryFacts(run);
  if (SignalOfJob(run) != SIGKILL && !OomKilledChild(run, memory)) {
    return;
  }
  if (memory.host_kill_line) {
    out.Add(Decisive("kernel-log", *memory.host_kill_line,
                     {{"pid", static_cast<double>(memory.victim_pid), ""}}));
  }
  // The machine's counter also counts kills in control groups and of other people's processes.
  const bool killed_elsewhere = memory.cgroup_kills.value_or(0) > 0 || memory.cgroup_kill_line;
  if (memory.host_kills.value_or(0) > 0 && memory.HostWasShort() && !killed_elsewhere) {
    const std::string text = fmt::format(
        "the machine's oom_kill counter rose by {} while only {} of {} were available",
        *memory.host_kills, HumanBytes(static_cast<double>(*memory.host_available_bytes_min)),
        HumanBytes(static_cast<double>(*memory.host_total_bytes)));
    out.Add(Decisive("sample", text, {{"oom_kills", static_cast<double>(*memory.host_kills), ""}}));
  } else if (memory.host_kills && *memory.host_kills == 0) {
    out.Add(Contradicts("sample", "the machine's oom_kill counter did not move"));
  }
}

}  // namespace whystop
