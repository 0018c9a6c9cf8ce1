#pragma once

#include <string>

#include "model/verdict.h"

namespace whystop {

/// "yes, still improving: loss 1 -> 0.03 over 30 points": the answer to the second question.
std::string LearningWords(const Verdict& verdict);

}  // namespace whystop
