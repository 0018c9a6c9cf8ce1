#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace whystop {

/// What a trial may reach beyond its throw-away layer.
struct LayerOptions {
  std::vector<std::string> shared;  // Folders in which its writes are kept: its recording.
  std::int64_t bytes_max = 0;       // For all that it writes elsewhere; held in memory.
  bool network = false;
};

/// Moves the calling process, which must have one thread, into namespaces of its own in which every
/// folder is a layer over the real one: what is written there vanishes with the last process. To be
/// called twice: EnterNamespaces, then fork; the child, the first process of the new process
/// namespace, calls MakeLayer. docs/try.md says what is and is not protected.
Status EnterNamespaces(bool network);
Status MakeLayer(const LayerOptions& options);

/// Whether layers can be made here; says why not.
Status LayerWorks();

}  // namespace whystop
