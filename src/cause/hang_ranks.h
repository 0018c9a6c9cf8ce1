#pragma once

#include <vector>

#include "cause/hang_facts.h"

namespace whystop {

/// What keeps a job of several ranks from going on. With an empty cause: nothing about the ranks
/// themselves; `where`, if set, is the one that the others wait for, and `text` says so.
HangKind ClassifyRanks(const HangFacts& hang, const std::vector<const ProcessLook*>& ranks);

}  // namespace whystop
