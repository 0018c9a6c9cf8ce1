#pragma once

#include <string>

#include "model/case_file.h"

namespace whystop {

/// "Adam", "SGD"; "" when not known.
std::string OptimizerName(const CaseFile& run);
/// Adam and its kin divide by the gradient's size: how large a gradient is does not change their
/// steps.
bool IsAdaptive(const CaseFile& run);
/// The share of every weight that weight decay takes off in a step, momentum included; 0 where
/// none is known.
double ShrinkPerStep(const CaseFile& run);

}  // namespace whystop
