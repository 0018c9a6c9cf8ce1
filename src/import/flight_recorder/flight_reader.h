#pragma once

#include <string>
#include <string_view>

#include "model/event.h"

namespace whystop {

/// A dump of PyTorch's flight recorder, by its first bytes: a pickle of a dict with `pg_config` and
/// `entries`, whatever made it (NCCL, Gloo).
bool IsFlightRecord(std::string_view head);

/// Tells, a process group, what the last collective of the rank was and which one did not end
/// ("collectives"). The rank is the number at the end of the file's name, as PyTorch writes it.
void ReadFlightRecord(std::string_view bytes, const std::string& path, EventSink& sink);

}  // namespace whystop
