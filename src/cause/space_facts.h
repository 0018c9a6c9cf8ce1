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

/// /dev/shm with little left when it was last looked at: a page that it could not supply (SIGBUS) is what comes next.
FullMount FindTightSharedMemory(const CaseFile& run);

/// An exception that says "No space left on device" (errno 28) and was not survived; nullptr: none.
/// In the words of whoever passes it on; a write that failed for no reason that is told counts where a file system was
/// full.
const ExceptionSeen* FindNoSpaceError(const CaseFile& run);

/// The error is about a file of /dev/shm.
bool NamesSharedMemory(const ExceptionSeen& exception);

}  // namespace whystop
