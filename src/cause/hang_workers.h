#pragma once

#include <optional>

#include "cause/hang_facts.h"

namespace whystop {

/// A worker process of PyTorch's data loader.
bool IsLoaderWorker(const ProcessLook& process);

/// The innermost line of the user's that a worker itself runs. A forked one has the lines of its parent
/// on its stack as well, up to the one that forked; they say nothing about it.
const Frame* OwnOfWorker(const ProcessLook& process);

/// What a worker waits for that was forked from a process with threads: threads and locks that were
/// not copied. Nullopt: it waits for no lock, or for work.
std::optional<HangKind> ClassifyForked(const ProcessLook& process);

/// A worker of a pool that `process` waits for and that is stuck like that; nullptr: none is.
const ProcessLook* StuckPoolWorker(const HangFacts& hang, const ProcessLook& process);

}  // namespace whystop
