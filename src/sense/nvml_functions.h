#pragma once

#include "sense/nvml_library.h"

namespace whystop {

// Our own declarations of the part of NVML that is used: its header is not needed to build, and the
// layouts below belong to the versioned names they are used with.

inline constexpr int kNvmlSuccess = 0;
inline constexpr unsigned kNvmlTemperatureGpu = 0;
inline constexpr unsigned kNvmlClockSm = 1;
inline constexpr unsigned kNvmlEccUncorrected = 1;
inline constexpr unsigned kNvmlEccVolatile = 0;
inline constexpr unsigned long long kNvmlEventXid = 8;

struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct NvmlUtilization {
  unsigned gpu;
  unsigned memory;
};

/// Of ..._v2 and ..._v3. The unversioned function has a shorter layout and is never called.
struct NvmlProcess {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct NvmlEvent {
  void* device;
  unsigned long long type;
  unsigned long long data;  // The Xid.
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct NvmlLibrary::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_index)(unsigned, void**) = nullptr;
  int (*uuid)(void*, char*, unsigned) = nullptr;
  int (*name)(void*, char*, unsigned) = nullptr;
  int (*memory)(void*, NvmlMemory*) = nullptr;
  int (*utilization)(void*, NvmlUtilization*) = nullptr;
  int (*temperature)(void*, unsigned, unsigned*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;
  int (*throttle_reasons)(void*, unsigned long long*) = nullptr;
  int (*ecc_errors)(void*, unsigned, unsigned, unsigned long long*) = nullptr;
  int (*clock)(void*, unsigned, unsigned*) = nullptr;
  int (*processes)(void*, unsigned*, NvmlProcess*) = nullptr;
  int (*event_set_create)(void**) = nullptr;
  int (*event_set_free)(void*) = nullptr;
  int (*register_events)(void*, unsigned long long, void*) = nullptr;
  int (*event_wait)(void*, NvmlEvent*, unsigned) = nullptr;
};

}  // namespace whystop
