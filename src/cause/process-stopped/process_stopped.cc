#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighProcessStopped(const CaseFile& run, Hypothesis& out) { WeighHang(run, "process-stopped", out); }

}  // namespace whystop
