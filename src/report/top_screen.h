#pragma once

#include <string>

#include "model/verdict.h"
#include "report/terminal_report.h"
#include "view/run_view.h"

namespace whystop {

/// A run at this moment in some fifteen lines, for `top`.
std::string RenderTop(const RunView& view, const Verdict& verdict, const std::string& last_line,
                      const TerminalStyle& style);

}  // namespace whystop
