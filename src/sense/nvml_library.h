#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace whystop {

/// What one GPU says. Every value may be missing: drivers, cards and rights differ.
struct GpuFacts {
  std::int64_t index = 0;  // The driver's own order, which CUDA_VISIBLE_DEVICES does not follow.
  std::string uuid;
  std::string name;
  std::optional<std::int64_t> memory_used_bytes;
  std::optional<std::int64_t> memory_total_bytes;
  std::optional<std::int64_t> utilisation_percent;
  std::optional<std::int64_t> temperature_celsius;
  std::optional<std::int64_t> power_milliwatts;
  std::optional<std::int64_t> throttle_reasons;
  std::optional<std::int64_t> ecc_uncorrected;
  std::optional<std::int64_t> sm_clock_mhz;
  std::optional<std::int64_t> xid_last;
  /// Process and bytes it holds; absent when the list cannot be had.
  std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>> processes;
};

/// NVIDIA's management library, opened at run time. Each function is looked up by its versioned
/// name and may be missing. Any call can hang with the driver: used on a thread of its own only. No
/// real GPU was at hand when this was written: it is tested against tests/fake_nvml.
class NvmlLibrary {
 public:
  /// kNotFound: there is no such library, so no NVIDIA driver. Other errors: the library says why.
  static Result<std::unique_ptr<NvmlLibrary>> Load(const std::string& name = "libnvidia-ml.so.1");
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  std::vector<GpuFacts> Read();
  std::string DriverVersion();

  struct Functions;
  NvmlLibrary(void* handle, std::unique_ptr<Functions> functions);

 private:
  struct Device {
    void* handle = nullptr;
    std::string uuid;
    std::string name;
    std::optional<std::int64_t> xid_last;
  };
  void FindDevices();
  void TakeXids();
  GpuFacts ReadDevice(std::size_t index);

  void* handle_;
  std::unique_ptr<Functions> call_;
  std::vector<Device> devices_;
  void* events_ = nullptr;
};

}  // namespace whystop
