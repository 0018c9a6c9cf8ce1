#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "look/python_layout.h"
#include "look/remote_memory.h"

namespace whystop {

/// The string object at `text` as UTF-8; nullopt: there is none, or a very long one.
std::optional<std::string> ReadPythonText(const RemoteMemory& memory, const PythonLayout& layout,
                                          std::uint64_t text);

}  // namespace whystop
