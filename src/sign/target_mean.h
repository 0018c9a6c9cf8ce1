#pragma once

#include <optional>

#include "model/case_file.h"

namespace whystop {

/// The variance of all targets that a regression loss was seen with; nullopt: too few calls, or
/// more than one optimizer (of adversaries a target may be a mere label).
std::optional<double> TargetVariance(const CaseFile& run);
/// What a regression loss of this function is when the targets' mean is all that is known;
/// given where its series began and ended: a sum over the batch, or a loss with
/// other terms, is larger than the calls allow, and cannot be compared.
std::optional<double> LossOfTheMean(const CaseFile& run, double first_loss, double last_loss);
/// That loss bends at a point of its own: what the mean costs is no more than a bound from above.
bool CostOfTheMeanIsABound(const CaseFile& run);
/// The outputs are farther from the targets, on average, than the targets are from their mean: a
/// constant would do better, whatever the loss is made of.
bool MissesTheMean(const CaseFile& run);

}  // namespace whystop
