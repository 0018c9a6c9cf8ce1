#pragma once

#include <string_view>

#include "detect/series_history.h"
#include "detect/series_shape.h"

namespace whystop {

/// What a series says about learning: "improving", "converged", "stalled", "diverged",
/// "never-learned", "too-short" (too few points to say), "unclear" (points enough, but the noise
/// hides the answer) or "start-unseen" (level, but where it began is not known). Leans to the
/// harmless answer.
std::string_view StateOf(const SeriesHistory& history, const SeriesShape& shape);

/// Five points or more, all the same to their last bit, and not for want of printed digits: what the
/// model computes does not change.
bool IsOneValue(const SeriesHistory& history);

}  // namespace whystop
