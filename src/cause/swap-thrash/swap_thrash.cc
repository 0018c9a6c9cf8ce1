#include <fmt/format.h>

#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighSwapThrash(const CaseFile& run, Hypothesis& out) {
  const Finding* thrashing = run.FindFirst("swap/thrashing");
  if (thrashing == nullptr) {
    return;
  }
  out.Add(Decisive("sample", "pages went to and from swap all the time", thrashing->facts));
}

}  // namespace whystop
