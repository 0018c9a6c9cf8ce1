#pragma once

#include <vector>

#include "diagnose/candidates.h"
#include "model/verdict.h"

namespace whystop {

/// Adds to the verdict what was considered and ruled out, and, where rivals for the root cannot be
/// told apart, the experiment that would settle it.
void TellRivals(const std::vector<Candidate>& candidates,
                const std::vector<Considered>& considered, Verdict& verdict);

}  // namespace whystop
