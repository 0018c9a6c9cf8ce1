#pragma once

#include <string_view>

#include "cause/cause.h"

namespace whystop {

/// Weighs "collective-timeout" or "collective-mismatch" by the dumps of PyTorch's flight recorder, of as
/// many ranks as left one: which rank never began the exchange that the others wait in, or began
/// another one.
void WeighCollectiveRecords(const CaseFile& run, std::string_view cause, Hypothesis& out);

}  // namespace whystop
