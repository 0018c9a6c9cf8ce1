#pragma once

#include "model/case_file.h"

namespace whystop {

/// Why the training loop was left, as far as the statement and its condition say.
enum class ExitReason {
  kNotKnown,    // No loop was seen to end.
  kEnd,         // It ran out of turns, or reached the budget that its own condition names.
  kPatience,    // A counter of checks without improvement reached its limit.
  kNotFinite,   // The condition tests for NaN or infinity.
  kTarget,      // A loss was small enough, a score high enough.
  kStepBudget,  // A number of steps was reached.
  kRateFloor,   // The learning rate fell below a floor of the loop's own.
  kTimeBudget,  // The time was up, with less done than planned.
  kError,       // The statement stands in an `except`.
  kStopFlag,    // A flag that something else set.
  kOther,       // Any other break, return or exit.
};
/// Of the exit of a loop, or of a framework's stop with a condition.
ExitReason ReasonOf(const Observation* exit);

}  // namespace whystop
