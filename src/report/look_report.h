#pragma once

#include <string>
#include <vector>

#include "model/process_look.h"
#include "model/verdict.h"

namespace whystop {

/// Every process with its threads: what it waits for and where its Python code is. Processes and
/// threads at the same place are shown once, with their number.
std::string RenderLooks(const std::vector<ProcessLook>& processes);

/// {"verdict": as RenderJson gives it, "processes": [...]}
std::string RenderLooksJson(const std::vector<ProcessLook>& processes, const Verdict& verdict);

}  // namespace whystop
