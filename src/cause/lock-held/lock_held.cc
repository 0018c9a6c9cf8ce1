#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighLockHeld(const CaseFile& run, Hypothesis& out) { WeighHang(run, "lock-held", out); }

}  // namespace whystop
