#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighNetworkFetchStall(const CaseFile& run, Hypothesis& out) { WeighHang(run, "network-fetch-stall", out); }

}  // namespace whystop
