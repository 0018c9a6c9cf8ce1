#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace whystop {

/// "180", "180s", "5m", "2h", "30d", "4w"; without a letter it is seconds. Nullopt: no such time, or none above zero.
std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text);

/// "2G", "500M", "1.5GiB", "4096"; a thousand is 1024 here as in HumanBytes. Nullopt: no such size, or below zero.
std::optional<std::int64_t> ParseBytes(std::string_view text);

}  // namespace whystop
