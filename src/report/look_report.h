#pragma once

#include <string>
#include <vector>

#include "model/process_look.h"
#include "report/json_writer.h"

namespace whystop {

/// Every process with its threads: what it waits for and where its Python code is. Processes and
/// threads at the same place are shown once, with their number.
std::string RenderLooks(const std::vector<ProcessLook>& processes);

/// The same as the member "processes" of the object that is open.
void WriteLooks(const std::vector<ProcessLook>& processes, JsonWriter& out);

}  // namespace whystop
