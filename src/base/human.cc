#include "base/human.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstring>

namespace whystop {

std::string HumanBytes(double bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 || std::abs(bytes) >= 100 ? fmt::format("{:.0f} {}", bytes, kUnits[unit])
                                             : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string HumanDuration(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds < 10) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  if (whole < 3600) {
    return fmt::format("{} m {} s", whole / 60, whole % 60);
  }
  if (whole < 86400) {
    return fmt::format("{} h {} m", whole / 3600, whole / 60 % 60);
  }
  return fmt::format("{} d {} h", whole / 86400, whole / 3600 % 24);
}

std::string HumanCount(std::int64_t count) {
  const auto size = static_cast<std::uint64_t>(count);
  std::string digits = fmt::format("{}", count < 0 ? 0 - size : size);  // The smallest number has no positive one.
  for (auto at = static_cast<std::int64_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return count < 0 ? "-" + digits : digits;
}

std::string HumanNumber(double value, int digits) {
  constexpr double kLongest = 1e6;  // From here on a power of ten is read more easily.
  const double size = std::abs(value);
  return size >= std::pow(10, digits) && size < kLongest ? fmt::format("{:.0f}", value)
                                                         : fmt::format("{:.{}g}", value, digits);
}

std::string SignalName(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace whystop
