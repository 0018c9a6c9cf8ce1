#pragma once

#include <string>
#include <string_view>

#include "model/event.h"

namespace whystop {

/// "sample", "process-end", "scalar": the name of an event's kind.
std::string_view KindOf(const Event& event);

/// One event as one line of JSON, for `inspect`.
std::string RenderEvent(const Event& event);

}  // namespace whystop
