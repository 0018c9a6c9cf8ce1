#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cause/cause.h"
#include "cause/declaration.h"
#include "sign/sign.h"

namespace whystop {

/// What one line of a declaration came to.
struct WeighedClause {
  std::string_view sign;
  Clause::Verb verb = Clause::Verb::kExplains;
  Seen answer = Seen::kNotSeen;
  double weight = 0;  // Natural logarithm of how many times likelier it is with this cause.
};

/// A cause of bad learning that something speaks for, and how it fared.
struct Considered {
  const Declaration* declared = nullptr;
  Hypothesis hypothesis;
  std::vector<WeighedClause> clauses;
  double log_odds = 0;
  bool exact = false;         // The fault itself was seen.
  std::string ruled_out;      // Why it is not under suspicion; "": it is.
  bool contradicted = false;  // Something that was seen rules it out; else what it requires was not looked at.
};

/// The one inference over all signs and declarations (docs/ranking.md): every cause that at least
/// one sign speaks for, with those that were ruled out and why.
std::vector<Considered> InferLearning(const SignTable& signs);

/// Signs of the complaint itself (failed, stuck, near guessing): every cause of bad learning explains
/// them, so that they tell none from another.
bool IsComplaint(std::string_view sign);

/// Evidence of a log line adds to the same sum.
constexpr double kLogLineWeight = 1.6;
/// Certain from 0.97 on, likely from 0.8 on.
Confidence ConfidenceAt(double log_odds);

}  // namespace whystop
