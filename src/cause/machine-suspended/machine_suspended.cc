#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighMachineSuspended(const CaseFile& run, Hypothesis& out) {
  // Clocks of virtual machines wander by seconds; a sleep that matters is longer.
  constexpr auto kSleepMin = std::chrono::seconds(30);
  if (run.suspended >= kSleepMin) {
    out.Add(Decisive("sample", "the machine slept for " + HumanDuration(run.suspended) +
                                   " during the run (boot-time clock ahead of the monotonic one)"));
  }
}

}  // namespace whystop
