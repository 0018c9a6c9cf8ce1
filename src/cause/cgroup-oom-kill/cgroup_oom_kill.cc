#include <fmt/format.h>

#include <csignal>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighCgroupOomKill(const CaseFile& run, Hypothesis& out) {
  const MemoryFacts memory = ReadMemoryFacts(run);
  const auto child = OomKilledChild(run, memory);
  if (SignalOfJob(run) != SIGKILL && !child) {
    return;
  }
  if (memory.cgroup_kill_line) {
    out.Add(Decisive("kernel-log", *memory.cgroup_kill_line,
                     {{"pid", static_cast<double>(memory.victim_pid), ""}}));
  }
  if (memory.cgroup_kills.value_or(0) > 0) {
    const std::string counter = fmt::format("the control group's oom_kill counter rose by {}; {}",
                                            *memory.cgroup_kills, memory.Figures());
    out.Add(Decisive("cgroup-counter", counter,
                     {{"oom_kills", static_cast<double>(*memory.cgroup_kills), ""}}));
  } else if (memory.cgroup_kills_above.value_or(0) > 0 && memory.NearLimit()) {
    out.Add(Supports("cgroup-counter",
                     "a control group above the run's counted a memory kill; " + memory.Figures()));
  } else if (memory.cgroup_kills && !memory.cgroup_kill_line) {
    out.Add(Contradicts("cgroup-counter", "the control group's oom_kill counter did not move"));
  }
  if (child && out.Has(Evidence::Weight::kDecisive)) {
    out.Add(
        Supports("exit-status", fmt::format("the victim was process {} ({}), a child of the job",
                                            child->pid, child->name)));
  }
  if (memory.limit_bytes && out.Has(Evidence::Weight::kDecisive)) {
    out.Fix(fmt::format("raise the memory limit of {} above {}, or use less", memory.limit_name,
                        HumanBytes(static_cast<double>(*memory.limit_bytes))));
  }
}

}  // namespace whystop
