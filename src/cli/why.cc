#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/follow.h"
#include "cli/home.h"
#include "cli/verdict_of.h"
#include "cli/view_of.h"
#include "record/recording_reader.h"
#include "report/json_report.h"
#include "report/terminal_report.h"

namespace whystop {
namespace {

Result<std::vector<Verdict>> Follow(const std::vector<std::string>& paths) {
  if (paths.size() > 1) {
    return Error{Error::Code::kUsage, "--follow takes one recording or log",
                 "whystop why --follow train.log"};
  }
  const auto found = FindRecording(paths.empty() ? "" : paths.front());
  if (!found) {
    return found.error();
  }
  auto verdict = *found || paths.empty() ? FollowRecording(found->value_or(""))
                                         : FollowLog(paths.front());
  if (!verdict) {
    return verdict.error();
  }
  return std::vector{std::move(*verdict)};
}

/// What the terminal shows beside the verdict of the newest run.
struct Shown {
  std::optional<RunView> view;
  std::optional<LiveLook> live;
};

Result<std::vector<Verdict>> JudgeAll(const WhyOptions& options, Shown& shown) {
  if (options.follow) {
    return Follow(options.paths);
  }
  std::vector<Verdict> verdicts;
  std::vector<std::string> files;
  const std::vector<std::string> names =
      options.paths.empty() ? std::vector<std::string>{""} : options.paths;
  for (const std::string& name : names) {
    const auto found = FindRecording(name);
    if (!found) {
      return found.error();
    }
    if (*found) {
      auto seen = SeeRecording(**found, /*look=*/true);
      if (!seen) {
        return seen.error();
      }
      verdicts.push_back(std::move(seen->verdict));
      shown = {std::move(seen->view), std::move(seen->live)};
    } else if (name.empty()) {
      return Error{
          Error::Code::kNotFound, "no recording yet in " + HomeOfRecordings(),
          "record a run with 'whystop run -- COMMAND', or name a log: 'whystop why train.log'"};
    } else {
      files.push_back(name);
    }
  }
  if (!files.empty()) {
    auto judged = JudgeFiles(files);
    if (!judged) {
      return judged.error();
    }
    verdicts.insert(verdicts.end(), judged->begin(), judged->end());
    shown = {};
  }
  return verdicts;
}

/// Several runs: a line each, then the newest in full.
std::string RenderTable(const std::vector<Verdict>& verdicts) {
  std::string text;
  for (const Verdict& verdict : verdicts) {
    const std::size_t more = verdict.sources.size() > 1 ? verdict.sources.size() - 1 : 0;
    const std::string name =
        more == 0 ? verdict.run_id : fmt::format("{:.23} +{}", verdict.run_id, more);
    text += fmt::format("{:<28.28}  {:<13}  {:<13}  {}\n", name, Name(verdict.outcome),
                        Name(verdict.learning),
                        verdict.causes.empty() ? "" : verdict.causes.front().id);
  }
  return text + "\n";
}

}  // namespace

int Why(const WhyOptions& options) {
  Shown shown;
  const auto verdicts = JudgeAll(options, shown);
  if (!verdicts) {
    Complain(verdicts.error());
    return kExitUsage;
  }
  const Verdict& newest = verdicts->back();
  if (options.json) {
    for (const Verdict& verdict : *verdicts) {
      Print(RenderJson(verdict));
    }
  } else {
    if (verdicts->size() > 1) {
      Print(RenderTable(*verdicts));
    }
    Print(RenderTerminal(newest, StyleFor(STDOUT_FILENO), shown.view ? &*shown.view : nullptr));
    if (shown.live) {
      Print("\nnow\n" + RenderLive(*shown.live));
    }
  }
  return ExitCodeOf(newest);
}

}  // namespace whystop
