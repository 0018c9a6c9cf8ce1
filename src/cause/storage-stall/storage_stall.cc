#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighStorageStall(const CaseFile& run, Hypothesis& out) { WeighHang(run, "storage-stall", out); }

}  // namespace whystop
