#pragma once

#include <string>

#include "cause/case_file.h"
#include "model/verdict.h"

namespace whystop {

struct LearningAnswer {
  Learning state = Learning::kUnknown;
  std::string text;  // "loss 1.93 -> 0.43 over 1,812 points"
};

/// The second question, from what detector loss/trend says of each series: the training loss answers it, else the
/// validation loss, else a score.
LearningAnswer DecideLearning(const CaseFile& run);

}  // namespace whystop
