#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace whystop {

/// "1.2 GiB", "512 MiB", "0 B".
std::string HumanBytes(double bytes);
/// "14 m 22 s", "3 d 2 h", "0.4 s".
std::string HumanDuration(std::chrono::nanoseconds duration);
/// "1,812".
std::string HumanCount(std::int64_t count);
/// Up to `digits` significant digits, without trailing zeros: "0.431", "1.93", "3e-05", "nan".
std::string HumanNumber(double value, int digits = 4);
/// "SIGKILL"; "signal 64" for one without a name.
std::string SignalName(int signal);

}  // namespace whystop
