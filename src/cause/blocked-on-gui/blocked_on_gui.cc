#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighBlockedOnGui(const CaseFile& run, Hypothesis& out) { WeighHang(run, "blocked-on-gui", out); }

}  // namespace whystop
