#include "cause/collective_records.h"
#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighCollectiveMismatch(const CaseFile& run, Hypothesis& out) {
  WeighHang(run, "collective-mismatch", out);
  WeighCollectiveRecords(run, "collective-mismatch", out);
}

}  // namespace whystop
