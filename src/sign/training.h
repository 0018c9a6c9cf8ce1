#pragma once

#include <optional>
#include <vector>

#include "model/case_file.h"
#include "sign/learning.h"

namespace whystop {

/// One training as the signs see it: the case, and what nearly every question needs, computed once.
struct Training {
  explicit Training(const CaseFile& run);

  const CaseFile& run;
  LearningView learning;
  const Finding* lost = nullptr;  // The loss is NaN or infinite to the end.
  bool failed = false;
  bool not_seen_to_learn = false;
  double points = 0;             // Of the series that the answer rests on.
  std::optional<double> guess;   // What guessing, or the mean of the targets, costs.
  double share = 0;              // Of it where the loss ends; 0: not known.
  bool classifies = false;       // The level of guessing is exact, not a bound.
  double optimizers = 0;
  const Observation* model = nullptr;
  const Observation* input = nullptr;      // Of the model, as first seen.
  const Observation* optimizer = nullptr;  // The first.
  std::vector<const Observation*> calls;   // Of loss functions, in order.

  double BasisNumber(const char* name) const {
    return learning.basis == nullptr ? 0 : learning.basis->Number(name).value_or(0);
  }
  /// The outputs of the last call were the same for every sample.
  bool OneAnswer() const;
};

}  // namespace whystop
