#pragma once

#include <string>

#include "model/verdict.h"
#include "view/run_view.h"

namespace whystop {

struct TerminalStyle {
  bool colour = false;
  int width = 100;
  bool unicode = false;  // The terminal shows more than ASCII.
};

/// The verdict for a person at a terminal. `view`: for the curve and the times of what happened;
/// nullptr: without them.
std::string RenderTerminal(const Verdict& verdict, const TerminalStyle& style,
                           const RunView* view = nullptr);

/// The verdict in one line, as `run` prints it at the end.
std::string RenderLine(const Verdict& verdict);

}  // namespace whystop
