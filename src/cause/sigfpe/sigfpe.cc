#include <csignal>

#include "cause/crash_facts.h"
#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighSigfpe(const CaseFile& run, Hypothesis& out) {
  WeighCrash(run,
             {.signal = SIGFPE,
              .text = "the job ended by SIGFPE: an integer division by zero in native code"},
             out);
}

}  // namespace whystop
