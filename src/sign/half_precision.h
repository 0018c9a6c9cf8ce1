#pragma once

#include "model/case_file.h"

namespace whystop {

/// The weights are float16, which ends at 65504 and at 6e-8; bfloat16 has the range of float32.
bool UsesHalf(const CaseFile& run);
/// What the layers gave, or the loss got, is of 16 bits: under autocast the weights are not.
bool OutputsAreHalf(const CaseFile& run);

}  // namespace whystop
