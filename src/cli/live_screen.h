#pragma once

#include <functional>
#include <string>

#include "cli/run_follower.h"

namespace whystop {

/// How a run stands, as text for the terminal.
std::string PictureOf(const RunFollower& follower, const SeenRun& seen);

/// Shows how a run stands until it has ended, or until q or Ctrl-C. Uses the terminal's other screen:
/// what was there before comes back. `look` is told of every picture; `leave` is the last line.
void ShowWhileAlive(RunFollower& follower, const std::string& leave,
                    const std::function<void(const SeenRun&)>& look);

}  // namespace whystop
