#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighTokenizerForkDeadlock(const CaseFile& run, Hypothesis& out) { WeighHang(run, "tokenizer-fork-deadlock", out); }

}  // namespace whystop
