#pragma once

#include <string>
#include <vector>

#include "try/trial.h"

namespace whystop {

/// Reads the recording of one trial. One that never began has a spec and nothing else.
Trial ReadTrial(const std::string& directory);

/// All trials that were made of a run, in the order in which they were made.
std::vector<Trial> ReadTrials(const std::string& run_directory);

}  // namespace whystop
