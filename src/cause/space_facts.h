#pragma once

#include <string>

#include "model/case_file.h"

namespace whystop {

/// A file system that ran full during the run.
struct FullMount {
  bool found = false;
  std::string name;
  std::string text;  // "/data had 0 B of 252 GiB free"
};

/// Looks at /dev/shm only, or at everything else.
FullMount FindFullMount(const CaseFile& run, bool shared_memory);

/// An exception that says "No space left on device" (errno 28) and was not survived; nullptr: none.
const ExceptionSeen* FindNoSpaceError(const CaseFile& run);

}  // namespace whystop
