#pragma once

#include <optional>

#include "model/event.h"
#include "view/run_view.h"

namespace whystop {

/// What an observation says on the time axis; nullopt: it has no place there.
std::optional<TimeMark> MarkOf(const Observation& seen, RunTime at);

}  // namespace whystop
