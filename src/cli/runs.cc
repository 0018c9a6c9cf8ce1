#include <fmt/format.h>

#include "base/shown_text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/verdict_of.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

std::string Command(const Verdict& verdict) {
  std::string line;
  for (const std::string& argument : verdict.command) {
    line += (line.empty() ? "" : " ") + argument;
  }
  return line;
}

std::string Cause(const Verdict& verdict) {
  return verdict.causes.empty() ? "" : verdict.causes.front().id;
}

}  // namespace

int Runs(const RunsOptions& options) {
  const std::vector<std::string> recordings = ListRecordings();
  if (recordings.empty()) {
    Complain("no recording yet in " + HomeOfRecordings(),
             "record a run with 'whystop run -- COMMAND'");
    return 0;
  }
  for (const std::string& path : recordings) {
    Verdict verdict;
    if (const auto status = JudgeRecording(path, verdict); !status) {
      Complain(status.error());
      continue;
    }
    if (!options.json) {
      Print(fmt::format("{:<22}  {:<13}  {:<13}  {:<24}  {:.60}\n", ShownText(verdict.run_id),
                        Name(verdict.outcome), Name(verdict.learning), Cause(verdict),
                        ShownText(Command(verdict))));
      continue;
    }
    JsonWriter out;
    out.Open();
    out.Text("run", verdict.run_id);
    out.Text("path", path);
    out.Text("outcome", Name(verdict.outcome));
    out.Text("learning", Name(verdict.learning));
    out.Text("cause", Cause(verdict));
    out.Texts("command", verdict.command);
    out.NumberOrNull("seconds", verdict.progress.seconds);
    out.Close();
    Print(out.text() + "\n");
  }
  return 0;
}

}  // namespace whystop
