#pragma once

#include <optional>
#include <string_view>

#include "model/event.h"

namespace whystop {

struct ObservationContext {
  RunTime at{};
  std::optional<int> rank;
  std::optional<std::int64_t> process = {};
  std::optional<int> training = {};
};

/// Decodes the body of an OBSERVATION record and pushes it as ExceptionSeen (kind "exception"),
/// SignalSeen (kind "signal") or Observation. A body that is cut short gives the attributes before
/// the cut and counts a drop. Returns the number of the training that begins with it, if one does.
std::optional<int> DecodeObservation(std::string_view body, const ObservationContext& context, EventSink& out);

}  // namespace whystop
