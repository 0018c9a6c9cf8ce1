#pragma once

#include <optional>
#include <string>

#include "model/event.h"

namespace whystop {

/// How the run of a recording began, from its first frames alone: for lists of many recordings.
/// Nullopt: nothing of it can be read.
std::optional<RunStart> ReadRunStart(const std::string& directory);

}  // namespace whystop
