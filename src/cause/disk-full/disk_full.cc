#include <fmt/format.h>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/space_facts.h"
#include "cause/weighers.h"
#include "sign/exception_facts.h"

namespace whystop {

void WeighDiskFull(const CaseFile& run, Hypothesis& out) {
  const ExceptionSeen* refused = FindNoSpaceError(run);
  const FullMount full = FindFullMount(run, /*shared_memory=*/false);
  if (refused == nullptr) {
    if (full.found && run.ExitCode().value_or(0) != 0) {
      out.Add(Supports("sample", full.text));
    }
    return;
  }
  if ((FindFullMount(run, /*shared_memory=*/true).found && !full.found) ||
      NamesSharedMemory(*refused)) {
    return;  // shm-exhausted has the same error text.
  }
  Evidence evidence = Decisive("exception", PointOf(*refused));
  evidence.place = refused->place;
  out.Add(std::move(evidence));
  if (full.found) {
    out.Add(Decisive("sample", full.text));
  }
}

}  // namespace whystop
