#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighForkOpenmpDeadlock(const CaseFile& run, Hypothesis& out) { WeighHang(run, "fork-openmp-deadlock", out); }

}  // namespace whystop
