#include <unistd.h>

#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/live_screen.h"
#include "cli/run_follower.h"
#include "report/json_report.h"

namespace whystop {

int Top(const TopOptions& options) {
  const auto found = FindRecording(options.run);
  if (!found) {
    Complain(found.error());
    return kExitUsage;
  }
  const std::optional<std::string>& recording = *found;
  if (!recording) {
    Complain(options.run.empty() ? "no recording yet in " + HomeOfRecordings()
                                 : "'" + options.run + "' is no recording",
             "'whystop runs' lists the recordings");
    return kExitUsage;
  }
  auto follower = RunFollower::Open(*recording);
  if (!follower) {
    Complain(follower.error());
    return kExitUsage;
  }
  (*follower)->Pump();
  if (options.json) {
    Print(RenderJson((*follower)->See().verdict));
    return 0;
  }
  if (options.once || ::isatty(STDOUT_FILENO) == 0) {
    Print(PictureOf(**follower, (*follower)->See()));
    return 0;
  }
  ShowWhileAlive(**follower, "q leaves; the run goes on", [](const SeenRun&) {});
  // What was seen last stays on the screen.
  Print(PictureOf(**follower, (*follower)->See()));
  return 0;
}

}  // namespace whystop
