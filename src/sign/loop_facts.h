#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// The exit that ended training; nullptr: none was seen. A break out of the batch loop alone ends
/// only its epoch.
const Observation* FinalExit(const CaseFile& run);
ExitReason ReasonOf(const Observation* exit);

/// The type of the exception in whose `except` the statement stands, or the type that is caught
/// there; "": in none.
std::string ErrorOf(const Observation& exit);

/// The loop was left because the loss of training was not finite; not where it was that of held-out
/// data alone, or a best value that none had reached yet.
bool LeftForALossNotFinite(const CaseFile& run);

/// "`break` at train.py:31 under `wait >= patience` (wait=1, patience=1)"
std::string DescribeExit(const Observation& exit);
/// The line of the statement.
Place PlaceOf(const Observation& exit);
/// "in turn 2 of 10", or "" where that is not known.
std::string DescribeTurn(const Observation& exit);

/// What a run is by its own loops: how many turns of the innermost one were planned in all, and how
/// many were made. Only of `for` loops without any way out but their end.
struct PlanKept {
  double planned = 0;
  double made = 0;
  double epochs = 0;
};
/// Such a loop was left long before its end, and the program ended well: an exception was caught
/// outside of it. nullopt: not so.
std::optional<PlanKept> LeftByAnException(const CaseFile& run);

/// Who asked the framework to stop, unless a later training of it came to its planned end; nullptr:
/// nobody.
const Observation* FrameworkStop(const CaseFile& run);
/// Why: by what the line that asked stands under, and by what the one who asked counts.
ExitReason ReasonOfStop(const CaseFile& run, const Observation& stop);
/// "EarlyStopping asked keras to stop at train.py:31 under `...` (values), in epoch 2 of 10".
std::string DescribeStop(const Observation& stop);

/// The call of a framework's that an exception left; nullptr where it trained on after that.
const Observation* LastFailedCall(const CaseFile& run);
/// " in epoch 2 of 10", where known.
std::string DescribeFrameworkEpoch(const Observation& seen);

/// The numbers of "val=1.1, best=1, wait=1, patience=1".
std::vector<std::pair<std::string, double>> ExitValues(const Observation& exit);

}  // namespace whystop
