#pragma once

#include "model/case_file.h"

namespace whystop {

/// The inputs of the model as first seen: what its first module got, else the first floating-point
/// tensor of a batch. Both are told with the same attributes: As<seen::ModelInput> reads either.
const Observation* ModelInput(const CaseFile& run);
/// Root mean square of an observed tensor about zero.
double SizeOf(const Observation& tensor);

}  // namespace whystop
