#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighStuckInCall(const CaseFile& run, Hypothesis& out) { WeighHang(run, "stuck-in-call", out); }

}  // namespace whystop
