#pragma once

#include <string>
#include <string_view>

#include "model/event.h"
#include "model/finding.h"

namespace whystop {

/// "sample", "process-end", "scalar": the name of an event's kind.
std::string_view KindOf(const Event& event);

/// One event as one line of JSON, for `inspect`.
std::string RenderEvent(const Event& event);

/// What a detector saw, as one line of JSON.
std::string RenderFinding(const Finding& finding);

}  // namespace whystop
