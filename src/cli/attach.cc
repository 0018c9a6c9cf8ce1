#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/human.h"
#include "base/parse.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "diagnose/analysis.h"
#include "look/tree_look.h"
#include "report/json_report.h"
#include "report/look_report.h"
#include "report/terminal_report.h"
#include "watch/hang_decision.h"

namespace whystop {
namespace {

constexpr int kLooks = 3;

/// The verdict so far, by the same rules as of a recorded run. Of a process that whystop did not
/// start nothing is known from before: that it stood still is known for the looks alone.
Verdict JudgeLooks(const AttachOptions& options, const Stillness& seen,
                   std::chrono::nanoseconds elapsed) {
  Analysis analysis;
  RunStart start;
  start.pid = options.pid;
  if (!seen.processes.empty()) {
    start.command = {seen.processes.front().command};
  }
  analysis.Push({RunTime{}, start});
  const SilenceLimit limit{.waiting = {}, .busy = {}, .reason = "the time of the looks"};
  const Standstill standstill = DecideStandstill(seen, 0, elapsed, limit);
  for (const ProcessLook& process : seen.processes) {
    analysis.Push({elapsed, ToObservation(process, 1)});
  }
  if (standstill != Standstill::kNone) {
    Observation hang;
    hang.kind = "hang";
    hang.attributes["episode"] = 1.0;
    hang.attributes["how"] = std::string(Name(standstill));
    hang.attributes["silence_s"] = std::chrono::duration<double>(elapsed).count();
    hang.attributes["limit_reason"] = limit.reason;
    hang.attributes["last_sign"] = std::string("the first look");
    hang.attributes["attached"] = 1.0;
    analysis.Push({elapsed, std::move(hang)});
  }
  Verdict verdict = analysis.Judge(/*job_alive=*/true);
  verdict.run_id = fmt::format("process {}", options.pid);
  return verdict;
}

}  // namespace

int Attach(const AttachOptions& options) {
  const auto pid = static_cast<pid_t>(options.pid);
  if (::kill(pid, 0) != 0 && errno != EPERM) {
    Complain(Error{Error::Code::kNotFound, fmt::format("there is no process {}", options.pid),
                   "ps aux | grep python lists candidates"});
    return kExitUsage;
  }
  std::vector<std::vector<Snapshot>> looks;
  const std::chrono::nanoseconds first = MonotonicNow();
  for (int i = 0; i < kLooks; ++i) {
    if (i > 0) {
      ::poll(nullptr, 0, static_cast<int>(options.interval_s * 1000));
    }
    looks.push_back(LookAtTree(pid, 0));
  }
  const std::chrono::nanoseconds elapsed = MonotonicNow() - first;
  const Stillness seen = CompareLooks(looks, elapsed);
  if (seen.processes.empty()) {
    Complain(fmt::format("process {} ended while it was looked at", options.pid));
    return kExitUsage;
  }
  const Verdict verdict = JudgeLooks(options, seen, elapsed);
  Print(options.json ? RenderLooksJson(seen.processes, verdict)
                     : RenderTerminal(verdict, StyleFor(STDOUT_FILENO)) + "\n" +
                           RenderLooks(seen.processes));
  return ExitCodeOf(verdict);
}

}  // namespace whystop
