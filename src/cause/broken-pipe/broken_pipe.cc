#include <csignal>

#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"
#include "sign/exception_facts.h"

namespace whystop {

void WeighBrokenPipe(const CaseFile& run, Hypothesis& out) {
  if (SignalOfJob(run) == SIGPIPE) {
    out.Add(Decisive("exit-status",
                     "the job ended by SIGPIPE: the program that read its output was gone"));
  }
  const ExceptionSeen* ending = FindEndingException(run);
  for (const ExceptionSeen& exception : run.exceptions) {
    const bool failed = exception.metrics_after == 0 && run.ExitCode().value_or(0) != 0;
    if (exception.type == "BrokenPipeError" && (failed || &exception == ending)) {
      Evidence evidence = Decisive("exception", "BrokenPipeError: " + exception.message);
      evidence.place = exception.place;
      out.Add(std::move(evidence));
      return;
    }
  }
}

}  // namespace whystop
