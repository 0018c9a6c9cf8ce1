#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "model/case_file.h"

namespace whystop {

enum class Calls { kInTraining, kAll };
/// Calls of these loss functions, in order; in training only those where gradients are recorded.
std::vector<const Observation*> LossCalls(const CaseFile& run,
                                          std::initializer_list<std::string_view> functions,
                                          Calls which = Calls::kInTraining);
/// Whether a loss of this size can be the mean over samples of what the first call was given; the sum over a batch is mostly larger
/// than any mean of such outputs. False where no call of a classifier's loss was seen.
bool CanBeTheMeanOverSamples(const CaseFile& run, double first_loss);
/// Several calls of a loss function were added up before they went backwards, each of which starts at guessing.
bool IsSumOfCalls(const CaseFile& run, const Finding& loss, double guess);
/// Whether the loss on record can be held against what guessing costs in the loss that was called: a sum over the batch, or other terms beside
/// it, lie far above that from first to last.
bool IsComparable(const CaseFile& run, const Finding& loss, double guess);
/// Those of losses that compare numbers with numbers.
std::vector<const Observation*> RegressionCalls(const CaseFile& run);
/// The targets of a regression loss as first seen: their size; nullopt: no such call.
std::optional<double> RegressionTargetSize(const CaseFile& run);

}  // namespace whystop
