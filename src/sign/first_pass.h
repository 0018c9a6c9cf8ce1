#pragma once

#include "model/case_file.h"

namespace whystop {

/// The loss was clearly below `guess` while every sample came for the first time: what was learned by then carries over to samples
/// that were not seen.
bool CarriedOverInTheFirstPass(const CaseFile& run, double guess);

}  // namespace whystop
