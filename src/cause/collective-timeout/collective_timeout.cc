#include "cause/collective_records.h"
#include "cause/hang_weighers.h"
#include "cause/weigh_hang.h"

namespace whystop {

void WeighCollectiveTimeout(const CaseFile& run, Hypothesis& out) {
  WeighHang(run, "collective-timeout", out);
  WeighCollectiveRecords(run, "collective-timeout", out);
}

}  // namespace whystop
