#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "base/human.h"
#include "base/redact.h"
#include "base/shown_text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/recorded_run.h"
#include "cli/verdict_of.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

using std::chrono::nanoseconds;

/// id, date, duration, size, state, headline. Cut to the terminal's width; whole where it is piped on.
std::string Line(const RecordedRun& run, const Verdict& verdict) {
  const std::string duration =
      verdict.progress.seconds
          ? HumanDuration(std::chrono::duration_cast<nanoseconds>(
                std::chrono::duration<double>(*verdict.progress.seconds)))
          : "";
  const std::string line =
      fmt::format("{:<20}  {}  {:>9}  {:>8}  {:<13}  {}", ShownText(verdict.run_id),
                  LocalTime(run.started, "%Y-%m-%d %H:%M"), duration,
                  HumanBytes(static_cast<double>(BytesOnDisk(run.path))), Name(verdict.outcome),
                  ShownText(RedactText(verdict.headline)));
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  return ShownText(line, terminal ? static_cast<std::size_t>(StyleFor(STDOUT_FILENO).width)
                                  : std::string_view::npos) +
         "\n";
}

std::string JsonLine(const RecordedRun& run, const Verdict& verdict) {
  JsonWriter out;
  out.Open();
  out.Text("run", verdict.run_id);
  out.Text("path", run.path);
  out.Text("started", LocalTime(run.started, "%Y-%m-%dT%H:%M:%S%z"));
  out.Text("outcome", Name(verdict.outcome));
  out.Text("learning", Name(verdict.learning));
  out.Text("cause", verdict.causes.empty() ? "" : verdict.causes.front().id);
  out.Said("headline", verdict.headline);
  out.Texts("command", RedactSecrets(verdict.command));
  out.NumberOrNull("seconds", verdict.progress.seconds);
  out.NumberOrNull("bytes", std::optional(BytesOnDisk(run.path)));
  out.Close();
  return out.text() + "\n";
}

}  // namespace

int Runs(const RunsOptions& options) {
  const std::vector<RecordedRun> recordings = ListRecordings();
  if (recordings.empty()) {
    Complain("no recording yet in " + HomeOfRecordings(),
             "record a run with 'whystop run -- COMMAND'");
    return 0;
  }
  for (const RecordedRun& run : recordings) {
    Verdict verdict;
    if (const auto status = JudgeRecording(run.path, verdict); !status) {
      Complain(status.error());
      continue;
    }
    Print(options.json ? JsonLine(run, verdict) : Line(run, verdict));
  }
  return 0;
}

}  // namespace whystop
