#include <fmt/format.h>

#include <csignal>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weigh_hang.h"
#include "cause/weighers.h"

namespace whystop {

namespace {

constexpr std::int64_t kPointsToSurvive = 4;  // Other ranks may print some meanwhile.

/// "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.", unless a later attempt of the same log trained on.
const ExceptionSeen* FindWorkerReport(const CaseFile& run) {
  for (const ExceptionSeen& exception : run.exceptions) {
    const bool trained_on = exception.metrics_after >= kPointsToSurvive && run.ExitCode().value_or(0) == 0;
    if (!trained_on && exception.message.find("DataLoader worker (pid") != std::string::npos) {
      return &exception;
    }
  }
  return nullptr;
}

}  // namespace

void WeighDataloaderWorkerKilled(const CaseFile& run, Hypothesis& out) {
  WeighHang(run, "dataloader-worker-killed", out);
  const MemoryFacts memory = ReadMemoryFacts(run);
  const auto child = OomKilledChild(run, memory);
  if (child && SignalOfJob(run) != SIGKILL) {
    out.Add(Decisive(
        "exit-status",
        fmt::format("process {} ({}), a child of the job, was killed for memory while the job {}",
                    child->pid, child->name,
                    run.ExitCode() == 0 ? "went on and returned 0" : "lived on")));
  }
  if (const ExceptionSeen* report = FindWorkerReport(run)) {
    const bool survived = run.ExitCode() == 0 && !child;
    Evidence evidence =
        survived ? Supports("exception", report->message) : Decisive("exception", report->message);
    evidence.place = report->place;
    out.Add(std::move(evidence));
  }
}

}  // namespace whystop
