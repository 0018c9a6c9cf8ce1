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

/// Recordings and foreign files by the names a user gives (empty: the newest recording), newest
/// last.
Result<std::vector<SeenRun>> SeeRuns(const std::vector<std::string>& names);

/// The pages of the causes that a verdict names.
std::vector<NamedPage> PagesFor(const Verdict& verdict);

}  // namespace whystop
