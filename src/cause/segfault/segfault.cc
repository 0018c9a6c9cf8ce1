#include <csignal>

#include "cause/crash_facts.h"
#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighSegfault(const CaseFile& run, Hypothesis& out) {
  WeighCrash(run,
             {.signal = SIGSEGV,
              .text = "the job ended by SIGSEGV: native code touched memory it must not touch"},
             out);
}

}  // namespace whystop
