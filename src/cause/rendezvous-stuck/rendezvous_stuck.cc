#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighRendezvousStuck(const CaseFile& run, Hypothesis& out) { WeighHang(run, "rendezvous-stuck", out); }

}  // namespace whystop
