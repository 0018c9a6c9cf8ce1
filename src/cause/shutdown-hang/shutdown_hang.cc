#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighShutdownHang(const CaseFile& run, Hypothesis& out) { WeighHang(run, "shutdown-hang", out); }

}  // namespace whystop
