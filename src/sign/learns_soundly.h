#pragma once

#include "model/case_file.h"

namespace whystop {

/// The machinery of learning works as far as the probe saw it: steps are made, every weight moves,
/// gradients and updates are of ordinary size and the outputs differ. What then keeps the loss at
/// the level of guessing is the data.
bool LearnsSoundly(const CaseFile& run);

}  // namespace whystop
