#pragma once

#include <optional>
#include <string>

#include "model/case_file.h"

namespace whystop {

/// What the message of a GPU allocator that found no memory says, in bytes. What it does not say is
/// absent.
struct GpuOom {
  std::optional<double> tried;
  std::optional<double> capacity;
  std::optional<double> free;
  std::optional<double> reserved_unallocated;  // Held by PyTorch in pieces that were too small.
  double others = 0;                           // In use by other processes.
  std::string function;  // Innermost function of the user's own that evaluates; "": none.
};

/// nullopt: no such error ended the run.
std::optional<GpuOom> FindGpuOom(const CaseFile& run);

}  // namespace whystop
