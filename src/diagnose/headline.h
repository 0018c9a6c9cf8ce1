#pragma once

#include <string>

#include "cause/case_file.h"
#include "model/verdict.h"

namespace whystop {

/// The verdict in one sentence: how it ended, where it was, and why.
std::string Headline(const CaseFile& run, const Verdict& verdict);

}  // namespace whystop
