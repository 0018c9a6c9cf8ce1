#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/verdict.h"
#include "try/compare.h"
#include "try/trial.h"

namespace whystop {

/// What the verdict from watching asks of the experiments.
struct TryCase {
  std::vector<std::string> suspects;  // Faults that it names, best first.
  bool fault_was_seen = false;        // One of them is certain, and is not that the model is too small.
  bool stopped_early = false;
  bool learns_by_watching = false;    // The verdict says so and blames nobody.
  std::int64_t steps = 0;             // Of the run; 0: not known.
};
TryCase CaseOf(const Verdict& verdict);

/// A level of the loss says whether the program learns: not where several models play against each other, nor
/// where guessing is not known and watching blames nobody (a reward's loss has no level).
bool LevelTells(const TryCase& asked, const Comparison& runs);

/// The trials that would tell most next, best first; empty: enough is known, or nothing more can
/// be. Those under way (`running`) are not named again. Pure: the same trials give the same plan.
std::vector<std::string> NextTrials(const TryCase& asked, std::span<const Trial> done,
                                    std::span<const std::string> running);

}  // namespace whystop
