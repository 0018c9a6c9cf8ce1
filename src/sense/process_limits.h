#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace whystop {

/// The soft limits of a process as /proc/PID/limits tells them, by the names of ulimit's C
/// constants: "nofile", "nproc", "as". What is unlimited is absent.
std::map<std::string, std::int64_t> ParseProcessLimits(std::string_view text);

}  // namespace whystop
