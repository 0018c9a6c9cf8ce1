#include <fmt/format.h>

#include <csignal>

#include "sign/account/account.h"
#include "sign/account/notebook.h"
#include "sign/exception_facts.h"
#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighUserInterrupt(const CaseFile& run, Hypothesis& out) {
  const SignalSeen* seen = FindSignal(run, SIGINT);
  const bool ended_by_it = SignalOfJob(run) == SIGINT || run.ExitCode() == 130;
  const SignalSeen* asked = AskedToEnd(run);
  if (asked != nullptr && asked->signal == SIGINT) {
    out.Add(Decisive("signal", "SIGINT (Ctrl-C) came from " + DescribeSender(*asked) +
                                   "; the program handled it and ended by itself before its plan "
                                   "was done"));
    return;
  }
  // The last cell of a notebook was broken off; its kernel was shut down later and in good order.
  const ExceptionSeen* ending = IsNotebookKernel(run) ? FindEndingException(run) : nullptr;
  const bool cell_broken_off = ending != nullptr && ending->type == "KeyboardInterrupt";
  const bool ended_well = run.ExitCode() == 0 && !cell_broken_off;
  if (ended_by_it) {
    out.Add(Decisive("exit-status", "the job ended by SIGINT"));
  }
  for (const ExceptionSeen& exception : run.exceptions) {
    if (exception.type == "KeyboardInterrupt" && exception.metrics_after == 0 && !ended_well &&
        !ended_by_it) {
      Evidence evidence = Decisive("exception", "the last exception was KeyboardInterrupt");
      evidence.place = exception.place;
      out.Add(std::move(evidence));
      break;
    }
  }
  if (seen != nullptr && !ended_well) {
    const bool typed = seen->from_kernel || (run.start && run.start->terminal);
    out.Add(Supports("signal", typed ? "Ctrl-C was typed at the terminal"
                                     : "SIGINT came from " + DescribeSender(*seen)));
  }
}

}  // namespace whystop
