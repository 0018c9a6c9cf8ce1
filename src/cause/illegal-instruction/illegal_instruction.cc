#include <csignal>

#include "cause/crash_facts.h"
#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighIllegalInstruction(const CaseFile& run, Hypothesis& out) {
  WeighCrash(run,
             {.signal = SIGILL,
              .text = "the job ended by SIGILL: an instruction that this CPU does not have"},
             out);
}

}  // namespace whystop
