#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/follow.h"
#include "cli/home.h"
#include "cli/view_of.h"
#include "record/recording_reader.h"
#include "report/json_report.h"
#include "report/terminal_report.h"

namespace whystop {
namespace {

/// What the terminal shows beside the verdict of the newest run.
struct Shown {
  std::optional<RunView> view;
  std::optional<LiveLook> live;
};

Result<Verdict> SeeAndShow(const std::string& recording, Shown& shown) {
  auto seen = SeeRecording(recording, /*look=*/true);
  if (!seen) {
    return seen.error();
  }
  shown = {std::move(seen->view), std::move(seen->live)};
  return std::move(seen->verdict);
}

Result<Verdict> Follow(const WhyOptions& options, Shown& shown) {
  const std::string name = options.paths.empty() ? "" : options.paths.front();
  if (options.paths.size() > 1) {
    return Error{Error::Code::kUsage, "--follow takes one recording or log",
                 "whystop why --follow train.log"};
  }
  const auto found = FindRecording(name);
  if (!found) {
    return found.error();
  }
  Notifier notifier(options.notify, found->value_or(name));
  if (!*found && !name.empty()) {
    return FollowLog(name, notifier);
  }
  if (!options.json && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0) {
    WS_RETURN_IF_ERROR(WatchRecording(found->value_or(""), notifier));
    return SeeAndShow(found->value_or(""), shown);
  }
  const auto followed = FollowRecording(found->value_or(""), notifier);
  return followed ? SeeAndShow(found->value_or(""), shown) : followed;
}

Result<std::vector<Verdict>> JudgeAll(const WhyOptions& options, Shown& shown) {
  if (options.follow) {
    auto verdict = Follow(options, shown);
    return verdict ? Result(std::vector{std::move(*verdict)})
                   : Result<std::vector<Verdict>>(verdict.error());
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
      auto verdict = SeeAndShow(**found, shown);
      if (!verdict) {
        return verdict.error();
      }
      verdicts.push_back(std::move(*verdict));
    } else if (name.empty()) {
      return Error{
          Error::Code::kNotFound, "no recording yet in " + HomeOfRecordings(),
          "record a run with 'whystop run -- COMMAND', or name a log: 'whystop why train.log'"};
    } else {
      files.push_back(name);
    }
  }
  if (!files.empty()) {
    auto seen = SeeFiles(files, /*views=*/1);
    if (!seen) {
      return seen.error();
    }
    for (SeenRun& run : *seen) {
      verdicts.push_back(std::move(run.verdict));
    }
    shown = {std::move(seen->back().view), std::nullopt};
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
