#pragma once

#include <string>

#include "model/verdict.h"

namespace whystop {

struct TerminalStyle {
  bool colour = false;
  int width = 100;
};

/// The verdict for a person at a terminal.
std::string RenderTerminal(const Verdict& verdict, const TerminalStyle& style);

/// The verdict in one line, as `run` prints it at the end.
std::string RenderLine(const Verdict& verdict);

}  // namespace whystop
