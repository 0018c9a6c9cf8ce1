#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighLoggerStall(const CaseFile& run, Hypothesis& out) { WeighHang(run, "logger-stall", out); }

}  // namespace whystop
