#pragma once

#include <vector>

#include "diagnose/candidates.h"
#include "model/verdict.h"

namespace whystop {

/// The one place that answers "why is this cause first?" (docs/ranking.md).
///
/// A cause that another candidate brings about is its consequence. Of the causes that explain the
/// end of the run and have no cause of their own, the best one is the root: by confidence, then the
/// specific before the generic, then the earliest line. The rest of them explain the same end and
/// fall away. The question of learning is ranked by the same rule, apart. What explains neither (a
/// leak that killed nobody, a suspended machine) contributes.
std::vector<VerdictCause> RankCauses(std::vector<Candidate> candidates);

}  // namespace whystop
