#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighJaxForkDeadlock(const CaseFile& run, Hypothesis& out) { WeighHang(run, "jax-fork-deadlock", out); }

}  // namespace whystop
