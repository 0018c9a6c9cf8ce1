#pragma once

#include <vector>

#include "model/case_file.h"
#include "model/verdict.h"

namespace whystop {

/// Gives the author of a C or C++ program advice of that language: what the cause's page says for it, and of everything else
/// what is not Python. Other programs' advice stays as it is. The one place where the language is asked for.
void TranslateAdvice(const CaseFile& run, std::vector<VerdictCause>& causes);

}  // namespace whystop
