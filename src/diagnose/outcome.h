#pragma once

#include <vector>

#include "model/case_file.h"
#include "model/verdict.h"

namespace whystop {

/// How the run ended: by the exit status where there is one, else by the root cause and the end of
/// its text.
Outcome DecideOutcome(const CaseFile& run, const std::vector<VerdictCause>& causes);

}  // namespace whystop
