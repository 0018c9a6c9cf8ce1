#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace whystop {

/// /proc/meminfo
struct HostMemory {
  std::optional<std::int64_t> total_bytes;
  std::optional<std::int64_t> available_bytes;
  std::optional<std::int64_t> swap_total_bytes;
  std::optional<std::int64_t> swap_free_bytes;
};
HostMemory ParseMeminfo(std::string_view text);

/// /proc/vmstat; all cumulative since boot.
struct HostPaging {
  std::optional<std::int64_t> swap_in_pages;
  std::optional<std::int64_t> swap_out_pages;
  std::optional<std::int64_t> oom_kills;  // Since Linux 4.13.
  std::optional<std::int64_t> major_faults;
};
HostPaging ParseVmstat(std::string_view text);

/// /proc/stat: its first lines.
struct HostCpu {
  std::optional<std::int64_t> busy_ticks;  // All but idle and waiting for I/O.
  std::optional<std::int64_t> cpus;
};
HostCpu ParseHostStat(std::string_view text);

/// The first number of /proc/loadavg, in thousandths.
std::optional<std::int64_t> ParseLoadMilli(std::string_view text);

/// /proc/net/dev, summed over all interfaces but loopback.
struct HostNetwork {
  std::optional<std::int64_t> received_bytes;
  std::optional<std::int64_t> sent_bytes;
  std::optional<std::int64_t> errors;  // Errors and drops in both directions.
};
HostNetwork ParseNetDev(std::string_view text);

/// A pressure file: share of the last 10 s, in hundredths of a percent.
struct Pressure {
  std::optional<std::int64_t> some;
  std::optional<std::int64_t> full;
};
Pressure ParsePressure(std::string_view text);

}  // namespace whystop
