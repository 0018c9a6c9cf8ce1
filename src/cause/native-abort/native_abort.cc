#include <csignal>

#include "cause/crash_facts.h"
#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighNativeAbort(const CaseFile& run, Hypothesis& out) {
  WeighCrash(run,
             {.signal = SIGABRT, .text = "the job ended by SIGABRT: native code gave up by itself"},
             out);
}

}  // namespace whystop
