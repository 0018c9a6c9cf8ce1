#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighWaitingForInput(const CaseFile& run, Hypothesis& out) { WeighHang(run, "waiting-for-input", out); }

}  // namespace whystop
