#pragma once

#include <string>
#include <vector>

#include "model/case_file.h"
#include "model/verdict.h"

namespace whystop {

/// What was looked for and not found, with the figure. Only things that could be seen.
std::vector<RuledOut> ListRuledOut(const CaseFile& run, const Verdict& verdict);

/// What could not be seen, and what would show it.
std::vector<Unknown> ListUnknowns(const CaseFile& run, const Verdict& verdict);

/// Who sent the signal, where known: "process 4121 (earlyoom, user 0)"; empty: not known.
std::string SenderOf(const CaseFile& run, int signal);

}  // namespace whystop
