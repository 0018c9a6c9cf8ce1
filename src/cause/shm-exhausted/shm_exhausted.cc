#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/space_facts.h"
#include "cause/weighers.h"
#include "sign/exception_facts.h"

namespace whystop {

void WeighShmExhausted(const CaseFile& run, Hypothesis& out) {
  const FullMount full = FindFullMount(run, /*shared_memory=*/true);
  const ExceptionSeen* refused = FindNoSpaceError(run);
  if (refused != nullptr && NamesSharedMemory(*refused)) {
    Evidence evidence = Decisive("exception", PointOf(*refused));
    evidence.place = refused->place;
    out.Add(std::move(evidence));
  }
  const bool worker_bus_error = std::any_of(
      run.process_ends.begin(), run.process_ends.end(),
      [](const ProcessEnd& ended) { return ended.end && ended.end->signal() == SIGBUS; });
  const FullMount tight = FindTightSharedMemory(run);
  if (tight.found && (SignalOfJob(run) == SIGBUS || worker_bus_error)) {
    out.Add(Decisive("sample", "a process of the job died of SIGBUS while " + tight.text));
  } else if (full.found && refused != nullptr && !FindFullMount(run, false).found) {
    out.Add(Decisive("sample", "a write was refused for lack of space while " + full.text));
  }
}

}  // namespace whystop
