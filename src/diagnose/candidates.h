#pragma once

#include <vector>

#include "cause/cause.h"

namespace whystop {

/// A cause that something speaks for.
struct Candidate {
  const CauseEntry* cause = nullptr;
  Hypothesis hypothesis;
  Confidence confidence = Confidence::kPossible;
  bool generic =
      false;  // Says what happened, not why: loses to any other explanation of the same end.
  std::size_t order =
      0;  // Of its earliest log line among all; the earliest failure is the cause of the others.
};

/// Lets every cause weigh the case; keeps those that something speaks for and nothing outweighs.
std::vector<Candidate> CollectCandidates(const CaseFile& run);

}  // namespace whystop
