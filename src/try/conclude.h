#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/trial_result.h"
#include "try/plan.h"
#include "try/trial.h"

namespace whystop {

/// A cause that an experiment has shown, with what shows it.
struct Proof {
  std::string cause;
  std::string spec;   // The trial that showed it.
  std::string text;   // With figures.
  std::string fix;
  std::string or_else = {};  // A cause that no trial tells from it.
};

struct Disproof {
  std::string cause;
  std::string text;
};

/// What all trials of a run say together. Pure.
struct Conclusions {
  std::optional<Proof> proof;
  std::vector<Disproof> refuted;
  std::vector<TrialResult> trials;  // In the order in which they were made.
  std::string summary;               // One sentence: what is known now.
};

Conclusions Conclude(const TryCase& asked, std::span<const Trial> trials);

}  // namespace whystop
