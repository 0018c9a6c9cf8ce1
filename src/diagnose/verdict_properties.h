#pragma once

#include <string>
#include <vector>

#include "model/verdict.h"

namespace whystop {

/// What a verdict says against itself, one sentence each; empty: nothing. These hold for whatever sequence of events it was
/// made from, so that tests and fuzzers may make up any. `process_gone`: the job's process was known to be dead.
std::vector<std::string> Contradictions(const Verdict& verdict, bool process_gone);

}  // namespace whystop
