#pragma once

#include <string>

#include "try/compare.h"

namespace whystop {

/// Whether what a change makes the program learn is more than learned by heart.
enum class Carries { kYes, kNo, kNotAsked };

/// The same change with half of the samples held out.
std::string HeldOutSpec(const std::string& spec);

/// kYes too where the question has no answer: the loss on samples cannot be told apart there, or the
/// untouched program is so far above guessing that learning by heart would be a cure.
Carries CarriesOver(const Comparison& runs, const Trial& cured);

/// It cures, and neither by heart nor around another fault as far as is known.
bool Heals(const Comparison& runs, const Trial& trial);

}  // namespace whystop
