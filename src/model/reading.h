#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// Everything a sensor can measure. The number is the wire value in a recording: never renumber,
/// never reuse. All values are whole numbers in the unit that the name ends in; a value that could
/// not be read is absent.
enum class Quantity : std::uint16_t {
  // Of one process (subject: process).
  kProcessRssBytes = 1,
  kProcessAnonBytes = 2,   // RssAnon: private memory, no page cache, no shared mappings.
  kProcessShmemBytes = 3,  // RssShmem: /dev/shm and shared anonymous memory.
  kProcessSwapBytes = 4,
  kProcessCpuUserMs = 5,    // Cumulative.
  kProcessCpuSystemMs = 6,  // Cumulative.
  kProcessState = 7,        // The letter of /proc/PID/stat: 'R', 'S', 'D', 'T', 't', 'Z'.
  kProcessThreads = 8,
  kProcessFds = 9,
  kProcessReadBytes = 10,     // Cumulative, from the storage layer.
  kProcessWrittenBytes = 11,  // Cumulative.
  kProcessMajorFaults = 12,   // Cumulative.
  kProcessPssBytes = 13,      // smaps_rollup, only taken near a limit.
  // Of the job's whole tree (subject: tree).
  kTreeProcesses = 30,
  kTreeRssBytes = 31,
  kTreeAnonBytes = 32,
  kTreeCpuMs = 33,  // Cumulative, ended processes included.
  kTreeThreads = 34,
  kTreeFdsMax = 35,  // Of the process with the most.
  kTreeReadBytes = 36,
  kTreeWrittenBytes = 37,
  // Of the machine (subject: host).
  kHostMemTotalBytes = 60,
  kHostMemAvailableBytes = 61,
  kHostSwapTotalBytes = 62,
  kHostSwapFreeBytes = 63,
  kHostSwapInPages = 64,   // Cumulative (vmstat pswpin).
  kHostSwapOutPages = 65,  // Cumulative.
  kHostOomKills = 66,      // Cumulative (vmstat oom_kill).
  kHostMajorFaults = 67,   // Cumulative.
  kHostCpuBusyMs = 68,     // Cumulative over all cores.
  kHostCpus = 69,
  kHostLoadMilli = 70,
  kHostNetReceivedBytes = 71,  // Cumulative, loopback left out.
  kHostNetSentBytes = 72,
  kHostNetErrors = 73,
  kHostUptimeMs = 74,
  // Pressure stall (subject: host or cgroup): share of the last 10 s, in hundredths of a percent.
  kPressureCpuSome = 90,
  kPressureMemorySome = 91,
  kPressureMemoryFull = 92,
  kPressureIoSome = 93,
  kPressureIoFull = 94,
  // Of a control group of the job or one of its ancestors (subject: cgroup).
  kCgroupMemoryBytes = 110,
  kCgroupMemoryPeakBytes = 111,
  kCgroupMemoryLimitBytes = 112,  // Absent when unlimited.
  kCgroupMemoryHighBytes = 113,
  kCgroupOomKills = 114,  // Cumulative.
  kCgroupOoms = 115,      // Cumulative: times the limit could not be met.
  kCgroupSwapBytes = 116,
  kCgroupSwapLimitBytes = 117,
  kCgroupPids = 118,
  kCgroupPidsLimit = 119,
  kCgroupPidsRefused = 120,  // Cumulative (pids.events max).
  kCgroupAnonBytes = 121,
  kCgroupFileBytes = 122,  // Page cache: given back under pressure, no leak.
  kCgroupShmemBytes = 123,
  kCgroupThrottledMs = 124,  // Cumulative CPU throttling.
  kCgroupFrozen = 125,
  // Of a file system that the job writes to (subject: mount).
  kDiskFreeBytes = 150,  // For an ordinary user.
  kDiskTotalBytes = 151,
  kDiskFreeInodes = 152,
  kDiskTotalInodes = 153,
  // Of a GPU (subject: gpu).
  kGpuMemoryUsedBytes = 180,
  kGpuMemoryTotalBytes = 181,
  kGpuUtilisationPercent = 182,
  kGpuTemperatureCelsius = 183,
  kGpuPowerMilliwatts = 184,
  kGpuThrottleReasons = 185,  // NVML bit mask.
  kGpuEccUncorrected = 186,   // Cumulative, volatile.
  kGpuXidLast = 187,
  kGpuJobMemoryBytes = 188,  // Held by the job's own processes.
  kGpuSmClockMhz = 189,
  // Of whystop itself (subject: recorder).
  kRecorderLatenessMs = 210,
  kRecorderCpuMs = 211,
  kRecorderRssBytes = 212,
  kRecorderDroppedBytes = 213,
};

struct QuantityInfo {
  Quantity quantity;
  std::string_view name;         // "process.rss_bytes": what `inspect` prints.
  std::string_view description;  // One sentence for people.
};

/// nullptr for a number that this build does not know.
const QuantityInfo* FindQuantity(Quantity quantity);

/// What a reading is about. Interned once per recording; a Reading names it by its number.
struct Subject {
  enum class Kind : std::uint8_t { kHost, kTree, kProcess, kCgroup, kMount, kGpu, kRecorder };
  Kind kind = Kind::kHost;
  std::string name;         // cgroup path, mount point, GPU UUID, process command name.
  std::int64_t number = 0;  // pid, GPU index.
  bool operator==(const Subject&) const = default;
};
using SubjectId = std::uint32_t;

struct Reading {
  SubjectId subject = 0;
  Quantity quantity{};
  std::int64_t value = 0;
};

}  // namespace whystop
