#pragma once

#include <string>

#include "model/verdict.h"
#include "try/conclude.h"

namespace whystop {

/// Puts what the experiments say into a verdict from watching: a proven cause becomes the certain
/// root, what it brings about its consequences, and refuted suspects are listed as ruled out.
void AddToVerdict(const Conclusions& found, Verdict& verdict);

/// Reads the trials of a run and adds what they say to its verdict. False: none was made.
bool AddTrialsOf(const std::string& run_directory, Verdict& verdict);

}  // namespace whystop
