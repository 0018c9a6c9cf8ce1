#pragma once

#include <optional>

#include "model/case_file.h"

namespace whystop {

/// How many answers of a classifier are right at least, by where its loss ends: where an answer is wrong the right class
/// has no more than half of the odds, which costs ln 2 and more. nullopt: several answers a sample, or weighed ones.
std::optional<double> RightByLoss(const CaseFile& run, const Finding& loss);

/// An accuracy of training that is lower than its loss allows: it is computed wrongly.
const Finding* ScoreBelowItsLoss(const CaseFile& run, const Finding& loss);

}  // namespace whystop
