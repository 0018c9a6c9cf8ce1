#pragma once

#include "model/case_file.h"
#include "sign/learning.h"

namespace whystop {

/// Models that work against each other: what one loses the other wins, so neither loss has to fall.
bool TrainsAdversaries(const CaseFile& run);
/// Several optimizers, each with a loss of its own: the one on record is one of several, and what it
/// does says little unless it falls.
bool HasOtherLosses(const CaseFile& run);

/// A difference of terms, as a policy's loss is: it takes both signs and has no level to fall to. It neither ran away nor turned NaN.
bool TakesBothSigns(const Finding& loss);

/// Each takes an answer back to "cannot say" where the series does not carry it.
void SayLessOfOtherLosses(const CaseFile& run, LearningView& view);
void SayLessBelowZero(LearningView& view);
void SayLessOfAFlatScore(const CaseFile& run, LearningView& view);
void SayLessOfABeginning(const CaseFile& run, LearningView& view);

}  // namespace whystop
