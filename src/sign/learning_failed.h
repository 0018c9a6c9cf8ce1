#pragma once

#include "model/case_file.h"

namespace whystop {

/// The model learned nothing, stopped early, came apart or ended in NaN: without one of these, odd
/// figures blame nobody.
bool LearningFailed(const CaseFile& run);
/// Long enough to see (20 points), and not seen to learn: failed, or lost in its own noise. For
/// causes whose evidence does not need the loss.
bool NotSeenToLearn(const CaseFile& run);

}  // namespace whystop
