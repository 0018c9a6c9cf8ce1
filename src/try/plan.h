#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/verdict.h"
#include "try/trial.h"

namespace whystop {

/// What the verdict from watching asks of the experiments.
struct TryCase {
  std::vector<std::string> suspects;  // Faults that it names, best first.
  bool stopped_early = false;
  bool learns_by_watching = false;    // The verdict says so and blames nobody.
};
TryCase CaseOf(const Verdict& verdict);

/// The trials that would tell most next, best first; empty: enough is known, or nothing more can
/// be. Those under way (`running`) are not named again. Pure: the same trials give the same plan.
std::vector<std::string> NextTrials(const TryCase& asked, std::span<const Trial> done,
                                    std::span<const std::string> running);

}  // namespace whystop
