#pragma once

#include <sys/types.h>

#include "model/event.h"

namespace whystop {

/// The text of a line of a process's own code, as the file holds it now. Nothing for lines that are
/// in no file.
void AddSource(pid_t pid, Frame& frame);

}  // namespace whystop
