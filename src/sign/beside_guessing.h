#pragma once

#include "model/case_file.h"
#include "sign/learning.h"

namespace whystop {

// What was learned is what lies below guessing: each corrects an answer by how far the run is from there, in numbers.

/// How far the loss is from guessing, and what that makes of the answer. Only what lies below guessing was learned, however
/// far the loss fell to it.
void CompareWithGuessing(const CaseFile& run, LearningView& view);
/// In a log neither labels nor calls of the loss are seen, but an accuracy and a loss that both stand where guessing puts them.
void CompareFiguresWithGuessing(const CaseFile& run, LearningView& view);

/// A score that stays where guessing puts it, or gained next to nothing: beside a loss that lies flat it is no proof of learning.
bool KnowsNextToNothing(const CaseFile& run, const Finding& score);
/// A loss that seems to have risen, by a first value that was low by chance, and knows more than nothing.
bool FarBelowGuessing(const CaseFile& run, const Finding& loss);
/// It was thrown up far above its start and what it came down to is no better than the start: such
/// a fall is no learning. A loss that begins low for want of anything to find may rise too, so where
/// the level of guessing is not known the weights must have been thrown as well.
bool CameBackFromAnExplosion(const CaseFile& run, const Finding& loss);

/// The held-out loss, or score, that never got better than guessing while the loss of training did. nullptr: there is none.
const Finding* HeldOutNoBetterThanGuessing(const CaseFile& run, const LearningView& view);
/// The same where nothing says that what was learned carries over: it was learned by heart.
const Finding* HeldOutAtGuessing(const CaseFile& run, const LearningView& view);

}  // namespace whystop
