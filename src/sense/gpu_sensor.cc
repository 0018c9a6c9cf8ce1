#include "sense/gpu_sensor.h"

#include <algorithm>

#include "sense/amd_gpu.h"
#include "sense/proc_text.h"

namespace whystop {
namespace {

/// What the job's own processes hold. In a container the driver names the host's pids, which match
/// nothing here: then it is not known, not zero.
std::optional<std::int64_t> JobMemoryBytes(const GpuFacts& gpu,
                                           const std::function<bool(std::int64_t)>& is_job) {
  if (!gpu.processes) {
    return std::nullopt;
  }
  std::int64_t bytes = 0;
  bool matched = gpu.processes->empty();
  for (const auto& [pid, held] : *gpu.processes) {
    if (is_job(pid)) {
      matched = true;
      bytes = SaturatingSum(bytes, held);
    }
  }
  return matched ? std::optional(bytes) : std::nullopt;
}

void Report(const GpuFacts& gpu, const std::function<bool(std::int64_t)>& is_job, Sweep& sweep) {
  const SubjectId id = sweep.Find({Subject::Kind::kGpu, gpu.uuid, gpu.index});
  sweep.Add(id, Quantity::kGpuMemoryUsedBytes, gpu.memory_used_bytes);
  sweep.Add(id, Quantity::kGpuMemoryTotalBytes, gpu.memory_total_bytes);
  sweep.Add(id, Quantity::kGpuUtilisationPercent, gpu.utilisation_percent);
  sweep.Add(id, Quantity::kGpuTemperatureCelsius, gpu.temperature_celsius);
  sweep.Add(id, Quantity::kGpuPowerMilliwatts, gpu.power_milliwatts);
  sweep.Add(id, Quantity::kGpuThrottleReasons, gpu.throttle_reasons);
  sweep.Add(id, Quantity::kGpuEccUncorrected, gpu.ecc_uncorrected);
  sweep.Add(id, Quantity::kGpuXidLast, gpu.xid_last);
  sweep.Add(id, Quantity::kGpuJobMemoryBytes, JobMemoryBytes(gpu, is_job));
  sweep.Add(id, Quantity::kGpuSmClockMhz, gpu.sm_clock_mhz);
}

}  // namespace

std::function<std::optional<GpuReport>(const std::monostate&)> NvmlPoll() {
  // Shared only because std::function must be copyable; a single thread uses it.
  auto library = std::make_shared<std::unique_ptr<NvmlLibrary>>();
  auto fault = std::make_shared<std::string>();
  return [library, fault](const std::monostate&) -> std::optional<GpuReport> {
    if (*library == nullptr && fault->empty()) {
      auto loaded = NvmlLibrary::Load();
      if (!loaded && loaded.error().code == Error::Code::kNotFound) {
        return std::nullopt;
      }
      if (loaded) {
        *library = std::move(*loaded);
      } else {
        *fault = loaded.error().what;
      }
    }
    if (*library == nullptr) {
      return GpuReport{"NVIDIA", *fault, {}};
    }
    return GpuReport{"NVIDIA " + (*library)->DriverVersion(), "", (*library)->Read()};
  };
}

std::function<std::optional<GpuReport>(const std::monostate&)> AmdPoll(
    const std::string& sys_root) {
  return [sys_root](const std::monostate&) -> std::optional<GpuReport> {
    std::vector<GpuFacts> gpus = ReadAmdGpus(sys_root);
    if (gpus.empty()) {
      return std::nullopt;
    }
    return GpuReport{"amdgpu", "", std::move(gpus)};
  };
}

GpuSensor::GpuSensor(const SenseOptions& options) {
  if (!options.gpu) {
    return;
  }
  const GpuPoller::Pace pace{options.interval, options.poll_timeout};
  pollers_.push_back(std::make_unique<GpuPoller>(NvmlPoll(), std::monostate{}, pace));
  pollers_.push_back(
      std::make_unique<GpuPoller>(AmdPoll(options.roots.sys), std::monostate{}, pace));
}

void GpuSensor::Sample(const std::function<bool(std::int64_t)>& is_job, Sweep& sweep) {
  for (const auto& poller : pollers_) {
    const auto report = poller->Latest(sweep.now());
    const std::string fault =
        poller->stuck() ? "the driver does not answer" : (report ? report->fault : "");
    if (!fault.empty() &&
        std::find(announced_.begin(), announced_.end(), fault) == announced_.end()) {
      announced_.push_back(fault);
      sweep.Announce(Observation{.kind = "sensor-unavailable",
                                 .step = {},
                                 .rank = {},
                                 .attributes = {{"sensor", "GPU"}, {"reason", fault}}});
    }
    if (!report) {
      continue;
    }
    for (const GpuFacts& gpu : report->gpus) {
      Report(gpu, is_job, sweep);
    }
  }
}

}  // namespace whystop
