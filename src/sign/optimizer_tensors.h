#pragma once

#include "model/case_file.h"

namespace whystop {

/// backward() ran, but not one tensor of the optimizer has a gradient.
bool NoGradientsInOptimizer(const CaseFile& run);
/// The gradients were there, and were thrown away before the optimizer could use them.
bool ZeroedBeforeStep(const CaseFile& run);
/// What is trainable and in no optimizer, by the comparison that was made last; nullptr: nothing is left out.
const Observation* LeftInNoOptimizer(const CaseFile& run);
/// Trainable parameters exist that the optimizer does not hold, or it holds tensors of no living
/// module.
bool OptimizerHoldsOthers(const CaseFile& run);

}  // namespace whystop
