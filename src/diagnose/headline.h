#pragma once

#include <string>

#include "model/case_file.h"
#include "model/verdict.h"

namespace whystop {

/// How it ended and where it was then.
std::string Ending(const CaseFile& run, const Verdict& verdict);

/// The verdict in one sentence: its ending, and why. `verdict.ending` must be there.
std::string Headline(const Verdict& verdict);

}  // namespace whystop
