#include <csignal>

#include "cause/crash_facts.h"
#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighBusError(const CaseFile& run, Hypothesis& out) {
  WeighCrash(
      run,
      {.signal = SIGBUS, .text = "the job ended by SIGBUS: a mapped page could not be provided"},
      out);
}

}  // namespace whystop
