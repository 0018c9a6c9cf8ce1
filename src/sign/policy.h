#pragma once

#include "model/case_file.h"
#include "sign/learning.h"

namespace whystop {

/// A policy is trained: what it earns tells, and its loss says nothing.
bool EarnsReward(const CaseFile& run);
/// A policy is judged by what it earns, never by its loss. Where that is not on record, or did not
/// rise beyond its noise, watching cannot say: some policies earn nothing for most of their life.
LearningView LearningOfAPolicy(const CaseFile& run);

}  // namespace whystop
