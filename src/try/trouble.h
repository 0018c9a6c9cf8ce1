#pragma once

#include <string>

#include "try/trial.h"

namespace whystop {

/// Why a trial made no training step, and what would help, in one sentence.
std::string WhyItDidNotBegin(const Trial& trial);

}  // namespace whystop
