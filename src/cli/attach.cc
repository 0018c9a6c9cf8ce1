#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/live_look.h"
#include "diagnose/analysis.h"
#include "report/json_report.h"
#include "report/json_writer.h"
#include "report/look_report.h"
#include "report/resource_report.h"
#include "report/terminal_report.h"
#include "watch/hang_decision.h"

namespace whystop {
namespace {

/// The verdict so far, by the same rules as of a recorded run. Of a process that whystop did not
/// start nothing is known from before: that it stood still is known for the looks alone.
Verdict JudgeLooks(const AttachOptions& options, const LiveLook& live) {
  Analysis analysis;
  RunStart start;
  start.pid = options.pid;
  start.limits = live.limits;
  if (!live.seen.processes.empty()) {
    start.command = {live.seen.processes.front().command};
  }
  analysis.Push({RunTime{}, start});
  for (const Event& event : live.sensed) {
    analysis.Push(event);
  }
  const SilenceLimit limit{.waiting = {}, .busy = {}, .reason = "the time of the looks"};
  const Standstill standstill =
      options.looks > 1 ? DecideStandstill(live.seen, 0, live.elapsed, limit) : Standstill::kNone;
  if (standstill == Standstill::kNone) {
    for (const Event& event : MovingEvents(live, live.elapsed)) {
      analysis.Push(event);
    }
  } else {
    for (const ProcessLook& process : live.seen.processes) {
      analysis.Push({live.elapsed, ToObservation(process, 1)});
    }
    Observation hang;
    hang.kind = "hang";
    hang.attributes["episode"] = 1.0;
    hang.attributes["how"] = std::string(Name(standstill));
    hang.attributes["silence_s"] = std::chrono::duration<double>(live.elapsed).count();
    hang.attributes["limit_reason"] = limit.reason;
    hang.attributes["last_sign"] = std::string("the first look");
    hang.attributes["attached"] = 1.0;
    analysis.Push({live.elapsed, std::move(hang)});
  }
  Verdict verdict = analysis.Judge(/*job_alive=*/true);
  verdict.run_id = fmt::format("process {}", options.pid);
  return verdict;
}

std::string RenderLiveJson(const LiveLook& live, const Verdict& verdict) {
  JsonWriter out;
  out.Open();
  out.Raw("verdict", RenderJson(verdict));
  WriteLooks(live.seen.processes, out);
  WriteResources(live.sensed, live.limits, out);
  out.Close();
  return out.text() + "\n";
}

}  // namespace

int Attach(const AttachOptions& options) {
  const auto pid = static_cast<pid_t>(options.pid);
  if (::kill(pid, 0) != 0 && errno != EPERM) {
    Complain(Error{Error::Code::kNotFound, fmt::format("there is no process {}", options.pid),
                   "ps aux | grep python lists candidates"});
    return kExitUsage;
  }
  const LiveLook live = LookAtJob(pid, options.looks, std::chrono::nanoseconds(std::llround(options.interval_s * 1e9)));
  if (live.seen.processes.empty()) {
    Complain(fmt::format("process {} ended while it was looked at", options.pid));
    return kExitUsage;
  }
  const Verdict verdict = JudgeLooks(options, live);
  Print(options.json ? RenderLiveJson(live, verdict)
                     : RenderTerminal(verdict, StyleFor(STDOUT_FILENO)) + "\n" + RenderLive(live));
  return ExitCodeOf(verdict);
}

}  // namespace whystop
