#pragma once

#include <string>

#include "model/case_file.h"
#include "model/verdict.h"

namespace whystop {

/// Whether the model learned, by the findings of "loss/trend": the training loss first, the
/// validation loss where there is no training loss, scores where there is no loss at all.
struct LearningView {
  Learning state = Learning::kUnknown;
  const Finding* basis =
      nullptr;       // The series it rests on; nullptr: there was none. Belongs to the case file.
  std::string text;  // One line for people: what the series did, or why nothing can be said.

  bool Bad() const {
    return state == Learning::kNeverLearned || state == Learning::kDiverged ||
           state == Learning::kStalled;
  }
  bool Good() const { return state == Learning::kImproving || state == Learning::kConverged; }
};

LearningView LearningOf(const CaseFile& run);

/// The probe saw that no update can have reached a weight: no loss and no data can be to blame.
bool NothingMoved(const CaseFile& run);

}  // namespace whystop
