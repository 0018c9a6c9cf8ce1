#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/event.h"
#include "report/json_writer.h"

namespace whystop {

/// What a job holds now and what it may hold, by the newest of some sweeps of the sensors and the soft
/// limits of its first process.
std::string RenderResources(const std::vector<Event>& sensed, const std::map<std::string, std::int64_t>& limits);

/// The same as members "resources" and "limits" of the object that is open.
void WriteResources(const std::vector<Event>& sensed, const std::map<std::string, std::int64_t>& limits, JsonWriter& out);

}  // namespace whystop
