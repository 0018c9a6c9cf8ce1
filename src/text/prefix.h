#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace whystop {

enum class LogLevel : std::uint8_t { kNone, kDebug, kInfo, kWarning, kError };

/// A line without what launchers and loggers put before it.
struct PeeledLine {
  std::string_view body;    // Its own indentation is kept: tracebacks need it.
  std::optional<int> rank;  // "[rank3]: ", "3: " (srun --label).
  LogLevel level = LogLevel::kNone;
  bool logged = false;  // A logger's time stamp or level stood before it.
};

/// Peels rank labels, Ray's "(name pid=1)", time stamps, levels and module names off the start of a
/// line.
PeeledLine PeelPrefix(std::string_view line);

}  // namespace whystop
