#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/live_look.h"
#include "model/verdict.h"
#include "report/view_json.h"
#include "view/run_view.h"

namespace whystop {

/// A run judged and ready to be drawn.
struct SeenRun {
  RunView view;
  Verdict verdict;
  std::optional<LiveLook> live;  // Where asked for, and the job is alive.
};

/// As JudgeRecording, with everything that a picture of the run needs. `look`: a job that is alive is
/// looked at as well, and the verdict knows what was seen.
Result<SeenRun> SeeRecording(const std::string& directory, bool look = false);

/// What runs that whystop did not watch left behind: files and folders; "-" is standard input. One a
/// run, newest last, the views of the newest so many; `excerpts`: with lines of their logs.
Result<std::vector<SeenRun>> SeeFiles(const std::vector<std::string>& paths, std::size_t views,
                                      bool excerpts = false);

/// Recordings and foreign files by the names a user gives (empty: the newest recording), newest
/// last; of files the views of the newest so many.
Result<std::vector<SeenRun>> SeeRuns(const std::vector<std::string>& names, std::size_t views);

/// Adds the curves of the trials that its verdict names, as far as their recordings are there.
void DrawTrials(SeenRun& run);

/// The pages of the causes that a verdict names.
std::vector<NamedPage> PagesFor(const Verdict& verdict);

}  // namespace whystop
