#pragma once

#include <optional>
#include <string>

#include "model/case_file.h"

namespace whystop {

/// "loss stays at 2.3, the level of guessing (10 classes)": it never left that level, or came to
/// rest within a tenth of it, wherever it began; "": neither.
std::string DescribeGuessing(const CaseFile& run);
/// The loss compares numbers with numbers: who knows nothing gives the mean of the targets.
bool LearnsNumbers(const CaseFile& run);
/// What knowing nothing of the inputs costs: guessing among classes, or the mean of the targets in a regression; nullopt: not known,
/// or the loss on record is not comparable with it.
std::optional<double> LevelOfGuessing(const CaseFile& run, const Finding& loss);
/// Where the loss ends, as a share of what a model has that knows nothing of its inputs: a
/// classifier that guesses, a regression that gives the mean of its targets. 0: not known.
double ShareOfGuessing(const CaseFile& run);
/// A classifier that had time to learn, and whose loss is still more than 0.7 of that of guessing.
bool StillNearGuessing(const CaseFile& run);

}  // namespace whystop
