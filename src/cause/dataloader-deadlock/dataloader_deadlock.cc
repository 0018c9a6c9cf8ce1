#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighDataloaderDeadlock(const CaseFile& run, Hypothesis& out) { WeighHang(run, "dataloader-deadlock", out); }

}  // namespace whystop
