#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighBusyLoop(const CaseFile& run, Hypothesis& out) { WeighHang(run, "busy-loop", out); }

}  // namespace whystop
