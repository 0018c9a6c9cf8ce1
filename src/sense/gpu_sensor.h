#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sense/nvml_library.h"
#include "sense/slow_poller.h"
#include "sense/system_sensors.h"

namespace whystop {

struct GpuReport {
  std::string driver;  // "NVIDIA 550.54"; empty: not known.
  std::string fault;   // Why there are no figures although a driver is there.
  std::vector<GpuFacts> gpus;
};

/// Asks NVML, loading it first; nullopt when there is no NVIDIA driver. One object serves one
/// thread.
std::function<std::optional<GpuReport>(const std::monostate&)> NvmlPoll();
/// The same for amdgpu; nullopt when there is no such card.
std::function<std::optional<GpuReport>(const std::monostate&)> AmdPoll(const std::string& sys_root);

using GpuPoller = SlowPoller<std::monostate, GpuReport>;

/// The machine's GPUs, each vendor asked on a thread of its own.
class GpuSensor {
 public:
  explicit GpuSensor(const SenseOptions& options);
  /// `is_job` tells whether a pid belongs to the job.
  void Sample(const std::function<bool(std::int64_t)>& is_job, Sweep& sweep);

 private:
  std::vector<std::unique_ptr<GpuPoller>> pollers_;
  std::vector<std::string> announced_;  // Faults said so far.
};

}  // namespace whystop
