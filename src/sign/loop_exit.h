#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/case_file.h"

namespace whystop {

/// The exit that ended training; nullptr: none was seen. A break out of the batch loop alone ends
/// only its epoch.
const Observation* FinalExit(const CaseFile& run);
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
/// The numbers of "val=1.1, best=1, wait=1, patience=1".
std::vector<std::pair<std::string, double>> ExitValues(const Observation& exit);

}  // namespace whystop
