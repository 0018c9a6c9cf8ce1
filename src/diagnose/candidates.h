#pragma once

#include <vector>

#include "cause/cause.h"
#include "diagnose/inference.h"

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
  double log_odds = 0;  // Of a cause of bad learning.
  bool exact = true;    // The fault itself was seen.
  bool of_exception = false;  // Known by the text of the exception that ended the run, or was hidden.
  std::vector<std::string_view> explains;  // The signs that speak for it.
  std::string settled_by;                  // The experiment that would tell it from its rivals.
};

/// Lets every cause of an end weigh the case, and takes those of bad learning from the inference;
/// keeps those that something speaks for and nothing outweighs.
std::vector<Candidate> CollectCandidates(const CaseFile& run,
                                         const std::vector<Considered>& learning);

}  // namespace whystop
