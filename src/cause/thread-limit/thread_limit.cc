#include <fmt/format.h>

#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighThreadLimit(const CaseFile& run, Hypothesis& out) {
  for (const ReadingHistory* refused : run.FindAll(Quantity::kCgroupPidsRefused)) {
    if (refused->Rise() > 0) {
      out.Add(Decisive("cgroup-counter",
                       fmt::format("control group {} refused {} new processes or threads",
                                   refused->subject.name, refused->Rise())));
      return;
    }
  }
}

}  // namespace whystop
