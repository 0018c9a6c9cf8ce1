#pragma once

#include <optional>

#include "model/case_file.h"

namespace whystop {

/// The optimizer's learning rate as first seen, or what its schedule starts from if that is
/// higher, or the highest of its series.
std::optional<double> LearningRate(const CaseFile& run);
/// The learning rate was next to nothing long before the end, and the run shows it.
const Finding* RateSpentEarly(const CaseFile& run);
/// A value times a factor, rounded down to 1, 2 or 5 times a power of ten: what a person would try
/// next.
double RoundFactor(double value, double factor);

}  // namespace whystop
