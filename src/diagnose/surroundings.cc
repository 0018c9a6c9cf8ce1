#include "diagnose/surroundings.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/human.h"
#include "base/parse.h"
#include "cause/memory_facts.h"
#include "cause/space_facts.h"
#include "diagnose/probe_absence.h"
#include "model/observations.h"

namespace whystop {
namespace {

bool Blames(const Verdict& verdict, std::initializer_list<std::string_view> ids) {
  return std::any_of(verdict.causes.begin(), verdict.causes.end(),
                     [&ids](const VerdictCause& cause) {
                       return std::find(ids.begin(), ids.end(), cause.id) != ids.end();
                     });
}

void RuleOutMemory(const CaseFile& run, const Verdict& verdict, std::vector<RuledOut>& out) {
  if (Blames(verdict,
             {"cgroup-oom-kill", "host-oom-kill", "userspace-oom-daemon", "slurm-memory-limit",
              "host-mem-leak", "host-alloc-failed", "swap-thrash"})) {
    return;
  }
  const MemoryFacts memory = ReadMemoryFacts(run);
  const std::string figures = memory.Figures();
  const std::int64_t kills = memory.cgroup_kills.value_or(0) + memory.host_kills.value_or(0);
  if (figures.empty() || memory.NearLimit() || kills > 0) {
    return;
  }
  const bool counted = memory.cgroup_kills || memory.host_kills;
  out.push_back({"memory", figures + (counted ? ", no out-of-memory kill counted" : "")});
}

void RuleOutDisk(const CaseFile& run, const Verdict& verdict, std::vector<RuledOut>& out) {
  if (Blames(verdict, {"disk-full", "disk-quota", "shm-exhausted"}) ||
      FindFullMount(run, false).found) {
    return;
  }
  const ReadingHistory* least = nullptr;
  for (const ReadingHistory* free : run.FindAll(Quantity::kDiskFreeBytes)) {
    if (free->subject.name != "/dev/shm" && (least == nullptr || free->min < least->min)) {
      least = free;
    }
  }
  if (least != nullptr) {
    out.push_back(
        {"disk", fmt::format("at least {} free on {}", HumanBytes(static_cast<double>(least->min)),
                             least->subject.name)});
  }
}

/// Only where nothing that is told speaks of one.
void RuleOutNan(const CaseFile& run, const Verdict& verdict, std::vector<RuledOut>& out) {
  double points = 0;
  const bool told = std::any_of(run.exceptions.begin(), run.exceptions.end(), [](const auto& seen) {
    return seen.message.find("nan") != std::string::npos || seen.message.find("NaN") != std::string::npos;
  });
  if (told || run.FindObservation("nonfinite") != nullptr ||
      Blames(verdict, {"loss-nan", "nan-in-data", "invalid-math", "stop-on-nan", "early-stop-nonfinite",
                       "masked-softmax-nan", "missing-values", "fp16-overflow", "nan-hidden-by-logger"})) {
    return;
  }
  for (const Finding& finding : run.findings) {
    if (finding.detector == "loss/trend") {
      if (finding.Number("not_finite").value_or(0) > 0) {
        return;
      }
      points += finding.Number("points").value_or(0);
    }
  }
  if (points > 0) {
    out.push_back({"NaN", fmt::format("none in {} values of the loss",
                                      HumanCount(WholeOf(points)))});
  }
}

}  // namespace

std::vector<RuledOut> ListRuledOut(const CaseFile& run, const Verdict& verdict) {
  std::vector<RuledOut> out;
  RuleOutMemory(run, verdict, out);
  RuleOutDisk(run, verdict, out);
  RuleOutNan(run, verdict, out);
  const bool caught = run.FindObservation("exception-caught") != nullptr ||
                      run.FindObservation("call-failed") != nullptr;
  const bool told = std::any_of(run.log_facts.begin(), run.log_facts.end(), [](const LogFact& fact) {
    return fact.role == LogFact::Role::kRoot || fact.role == LogFact::Role::kCascade;
  });
  const bool named = Blames(verdict, {"uncaught-exception", "callback-exception", "swallowed-exception"});
  if (run.watched && run.exceptions.empty() && !caught && !told && !named) {
    out.push_back({"exception", "no traceback in the output"});
  }
  // What a process of the job reaped itself is not known here: only where all ends are known can a signal be ruled out.
  const bool all_known = std::all_of(run.process_ends.begin(), run.process_ends.end(),
                                     [](const ProcessEnd& ended) { return ended.end.has_value(); });
  if (run.end && run.end->end && !verdict.exit.signal && run.signals.empty()) {
    out.push_back({"signal", all_known ? "none" : "none to the job itself; how its children ended is not known"});
  }
  return out;
}

std::vector<Unknown> ListUnknowns(const CaseFile& run, const Verdict& verdict) {
  std::vector<Unknown> out;
  if (run.watched && !run.end && !run.job_alive) {
    out.push_back({"how the job ended: the recording stops before it",
                   "whystop itself was killed or the machine went down; the system's journal of "
                   "that minute"});
  }
  if (verdict.exit.signal && verdict.exit.sent_by.empty() && *verdict.exit.signal != SIGSEGV &&
      *verdict.exit.signal != SIGABRT && *verdict.exit.signal != SIGBUS &&
      *verdict.exit.signal != SIGFPE && *verdict.exit.signal != SIGILL) {
    out.push_back({"who sent " + SignalName(*verdict.exit.signal),
                   "the audit log, if enabled (auditctl -a always,exit -S kill), or the "
                   "scheduler's record of the job"});
  }
  const std::string_view option = run.start ? OptionAgainstProbe(run.start->command) : "";
  if (!option.empty() && !run.probe_loaded) {
    out.push_back(
        {fmt::format("what the training did inside: Python was started with {}, so the probe was "
                     "not loaded",
                     option),
         option == "-S"
             ? "start Python without -S"
             : fmt::format("start Python without {}, or once: whystop install-hook --python PYTHON",
                           option)});
  }
  const Observation* lost = run.FindObservation("probe-left-out");
  if (lost != nullptr && option.empty() && !run.probe_loaded) {
    const auto lost_seen = As<seen::ProbeLeftOut>(*lost);
    out.push_back({fmt::format("what the training did inside: PYTHONPATH was set anew for {} (process {}), so the probe was not loaded",
                               lost_seen.name.value_or("python"), lost_seen.pid.value_or(0)),
                   "keep what PYTHONPATH holds (export PYTHONPATH=/your/folder:$PYTHONPATH), or once: whystop "
                   "install-hook --python PYTHON"});
  }
  if (const Observation* idle = run.FindObservation("no-training"); idle != nullptr) {
    const bool inference = As<seen::NoTraining>(*idle).optimizers == 0;
    out.push_back(
        {inference ? "whether it learned: it made no optimizer and no backward pass, so it used a "
                     "model and trained none"
                   : "whether it learned: an optimizer was made, but no backward pass and no step",
         inference ? "nothing, if that was its purpose"
                   : "the code between the optimizer and the training loop"});
  }
  const MemoryFacts memory = ReadMemoryFacts(run);
  if (run.watched && run.Signal() == SIGKILL && !memory.cgroup_kills && !memory.host_kills) {
    out.push_back(
        {"whether memory ran out: no counter could be read", "dmesg | grep -i 'killed process'"});
  }
  if (!run.watched && verdict.outcome == Outcome::kUnknown) {
    out.push_back({"why it ended: these files do not say",
                   "the other half of the output (stderr or stdout), the scheduler's record (sacct "
                   "-j, kubectl describe "
                   "pod), the kernel log; next time: whystop run"});
  }
  return out;
}

std::string SenderOf(const CaseFile& run, int signal) {
  const SignalSeen* seen = FindSignal(run, signal);
  if (seen != nullptr) {
    return DescribeSender(*seen);
  }
  const MemoryFacts memory = ReadMemoryFacts(run);
  if (signal == SIGKILL &&
      (memory.cgroup_kill_line || memory.host_kill_line || memory.cgroup_kills.value_or(0) > 0)) {
    return "the kernel's out-of-memory killer";
  }
  return "";
}

}  // namespace whystop
