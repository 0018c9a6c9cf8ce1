#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighUnevenInputs(const CaseFile& run, Hypothesis& out) { WeighHang(run, "uneven-inputs", out); }

}  // namespace whystop
