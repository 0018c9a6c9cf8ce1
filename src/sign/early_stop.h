#pragma once

#include "model/case_file.h"

namespace whystop {

/// Early stopping did what it is for: the run learned, nothing got better any more, and it waited long enough to know.
bool StoppedAfterItsBest(const CaseFile& run);

}  // namespace whystop
