#include "cause/crash_facts.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "model/observations.h"

namespace whystop {
namespace {

std::string_view KernelWord(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segfault at";
    case SIGILL:
      return "invalid opcode";
    case SIGFPE:
      return "divide error";
    default:
      return "traps:";
  }
}

}  // namespace

void WeighCrash(const CaseFile& run, const CrashKind& kind, Hypothesis& out) {
  if (SignalOfJob(run) != kind.signal) {
    return;
  }
  const bool core = run.end && run.end->end && run.end->end->dumped_core();
  std::string text(kind.text);
  constexpr std::string_view kJob = "the job ended by";
  if (run.Signal() != kind.signal && run.ExitCode().value_or(0) <= 128 && text.starts_with(kJob)) {
    text.replace(0, kJob.size(), "a process that the program had started ended by");
  }
  out.Add(Decisive("exit-status", text + (core ? " (core dumped)" : "")));
  if (run.Signal() != kind.signal) {
    for (const ProcessEnd& ended : run.process_ends) {
      if (ended.end && ended.end->signal() == kind.signal) {
        out.Add(Supports("exit-status",
                         fmt::format("the process that died was {} ({})", ended.pid, ended.name)));
        break;
      }
    }
  }
  if (const std::string line = FindKernelLine(run, KernelWord(kind.signal)); !line.empty()) {
    out.Add(Supports("kernel-log", line));
  }
  if (const Observation* place = run.FindObservation("crash-place"); place != nullptr) {
    const auto place_seen = As<seen::CrashPlace>(*place);
    const std::string program = place_seen.module.value_or("");
    Evidence evidence = Supports("symbols", fmt::format("it was in {} of {}", place_seen.function.value_or(""),
                                                        program.substr(program.rfind('/') + 1)));
    evidence.place = {.file = place_seen.file.value_or(""), .line = place_seen.line.value_or(0)};
    out.Add(std::move(evidence));
  }
  if (const SignalSeen* seen = FindSignal(run, kind.signal); seen != nullptr && seen->sender_pid) {
    out.Add(Contradicts("signal", fmt::format("{} was sent by {}", SignalName(kind.signal),
                                              DescribeSender(*seen))));
  }
}

}  // namespace whystop
