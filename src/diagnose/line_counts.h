#pragma once

#include "cause/cause.h"

namespace whystop {

/// Whether a log line counts against the run: it could have ended it. Training that went on after
/// it has survived it, and what it tells may be the consequence of something else that the log
/// tells.
bool LineCounts(const CaseFile& run, const CauseEntry& cause, const LogFact& fact);

}  // namespace whystop
