#include <fmt/format.h>

#include "cause/evidence.h"
#include "cause/hang_weighers.h"

namespace whystop {

void WeighGpuThermalThrottle(const CaseFile& run, Hypothesis& out) {
  const Finding* slowed = run.FindFirst("gpu/throttled");
  if (slowed == nullptr) {
    return;
  }
  out.Add(Decisive("sample",
                   fmt::format("for {:.0f} % of the time the driver held the clock down because of "
                               "heat or a power brake",
                               100 * slowed->Number("share").value_or(0)),
                   slowed->facts));
}

}  // namespace whystop
