#pragma once

#include <string>

#include "model/case_file.h"
#include "sign/exit_reason.h"

namespace whystop {

/// Who asked the framework to stop, unless a later training of it came to its planned end; nullptr:
/// nobody.
const Observation* FrameworkStop(const CaseFile& run);
/// Why: by what the line that asked stands under, and by what the one who asked counts.
ExitReason ReasonOfStop(const CaseFile& run, const Observation& stop);
/// "EarlyStopping asked keras to stop at train.py:31 under `...` (values), in epoch 2 of 10".
std::string DescribeStop(const Observation& stop);
/// The call of a framework's that an exception left; nullptr where it trained on after that.
const Observation* LastFailedCall(const CaseFile& run);
/// " in epoch 2 of 10", where known.
std::string DescribeFrameworkEpoch(const Observation& seen);

}  // namespace whystop
