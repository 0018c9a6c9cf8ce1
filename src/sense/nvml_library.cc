#include "sense/nvml_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>

#include "sense/nvml_functions.h"

namespace whystop {
namespace {

constexpr unsigned kDevicesMax = 64;
constexpr unsigned kProcessesMax = 256;
constexpr int kEventsPerReadMax = 64;

/// Takes the first of `names` that the library has.
template <typename Function>
void Look(void* handle, Function& into, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* const found = ::dlsym(handle, name)) {
      into = reinterpret_cast<Function>(found);
      return;
    }
  }
}

std::unique_ptr<NvmlLibrary::Functions> LookAll(void* handle) {
  auto call = std::make_unique<NvmlLibrary::Functions>();
  Look(handle, call->init, {"nvmlInit_v2"});
  Look(handle, call->shutdown, {"nvmlShutdown"});
  Look(handle, call->error_string, {"nvmlErrorString"});
  Look(handle, call->driver_version, {"nvmlSystemGetDriverVersion"});
  Look(handle, call->device_count, {"nvmlDeviceGetCount_v2"});
  Look(handle, call->device_by_index, {"nvmlDeviceGetHandleByIndex_v2"});
  Look(handle, call->uuid, {"nvmlDeviceGetUUID"});
  Look(handle, call->name, {"nvmlDeviceGetName"});
  Look(handle, call->memory, {"nvmlDeviceGetMemoryInfo"});
  Look(handle, call->utilization, {"nvmlDeviceGetUtilizationRates"});
  Look(handle, call->temperature, {"nvmlDeviceGetTemperature"});
  Look(handle, call->power, {"nvmlDeviceGetPowerUsage"});
  Look(handle, call->throttle_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  Look(handle, call->ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
  Look(handle, call->clock, {"nvmlDeviceGetClockInfo"});
  Look(handle, call->processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  Look(handle, call->event_set_create, {"nvmlEventSetCreate"});
  Look(handle, call->event_set_free, {"nvmlEventSetFree"});
  Look(handle, call->register_events, {"nvmlDeviceRegisterEvents"});
  Look(handle, call->event_wait, {"nvmlEventSetWait_v2"});
  return call;
}

/// Calls `function` if there is one; its answer, or nullopt when it is missing or refuses.
template <typename Value, typename Function, typename... Arguments>
std::optional<Value> Ask(Function function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != kNvmlSuccess) {
    return std::nullopt;
  }
  return value;
}

template <typename Value>
std::optional<std::int64_t> Whole(std::optional<Value> value) {
  constexpr auto kMost = static_cast<unsigned long long>(std::numeric_limits<std::int64_t>::max());
  if (!value || *value > kMost) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

template <typename Function, typename... Arguments>
std::string AskText(Function function, Arguments... arguments) {
  std::array<char, 128> text{};
  if (function == nullptr ||
      function(arguments..., text.data(), static_cast<unsigned>(text.size() - 1)) != kNvmlSuccess) {
    return "";
  }
  return text.data();
}

}  // namespace

Result<std::unique_ptr<NvmlLibrary>> NvmlLibrary::Load(const std::string& name) {
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{Error::Code::kNotFound, name + " is not installed", ""};
  }
  auto call = LookAll(handle);
  if (call->init == nullptr || call->device_count == nullptr || call->device_by_index == nullptr) {
    ::dlclose(handle);
    return Error{Error::Code::kTooNew, name + " lacks functions that every driver since 2012 has",
                 ""};
  }
  const int fault = call->init();
  if (fault != kNvmlSuccess) {
    const std::string why =
        call->error_string != nullptr ? call->error_string(fault) : std::to_string(fault);
    ::dlclose(handle);
    return Error{Error::Code::kIo, "NVML does not start: " + why, "try nvidia-smi"};
  }
  return std::make_unique<NvmlLibrary>(handle, std::move(call));
}

NvmlLibrary::NvmlLibrary(void* handle, std::unique_ptr<Functions> functions)
    : handle_(handle), call_(std::move(functions)) {
  FindDevices();
}

NvmlLibrary::~NvmlLibrary() {
  if (events_ != nullptr && call_->event_set_free != nullptr) {
    call_->event_set_free(events_);
  }
  if (call_->shutdown != nullptr) {
    call_->shutdown();
  }
  ::dlclose(handle_);
}

void NvmlLibrary::FindDevices() {
  const unsigned count = std::min(Ask<unsigned>(call_->device_count).value_or(0), kDevicesMax);
  if (call_->event_wait != nullptr && call_->register_events != nullptr) {
    events_ = Ask<void*>(call_->event_set_create).value_or(nullptr);
  }
  for (unsigned index = 0; index < count; ++index) {
    Device device;
    device.handle = Ask<void*>(call_->device_by_index, index).value_or(nullptr);
    if (device.handle != nullptr) {
      device.uuid = AskText(call_->uuid, device.handle);
      device.name = AskText(call_->name, device.handle);
      if (events_ != nullptr) {
        call_->register_events(device.handle, kNvmlEventXid, events_);  // Refused: no Xids then.
      }
    }
    devices_.push_back(std::move(device));
  }
}

std::string NvmlLibrary::DriverVersion() { return AskText(call_->driver_version); }

void NvmlLibrary::TakeXids() {
  constexpr unsigned kDoNotWait = 0;
  NvmlEvent event{};
  for (int count = 0; events_ != nullptr && count < kEventsPerReadMax; ++count) {
    if (call_->event_wait(events_, &event, kDoNotWait) != kNvmlSuccess) {
      return;
    }
    for (Device& device : devices_) {
      if (device.handle == event.device && event.type == kNvmlEventXid) {
        device.xid_last = Whole<unsigned long long>(event.data);
      }
    }
  }
}

std::vector<GpuFacts> NvmlLibrary::Read() {
  TakeXids();
  std::vector<GpuFacts> out;
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    if (devices_[index].handle != nullptr) {
      out.push_back(ReadDevice(index));
    }
  }
  return out;
}

GpuFacts NvmlLibrary::ReadDevice(std::size_t index) {
  const Device& device = devices_[index];
  void* const handle = device.handle;
  GpuFacts facts;
  facts.index = static_cast<std::int64_t>(index);
  facts.uuid = device.uuid;
  facts.name = device.name;
  facts.xid_last = device.xid_last;
  if (const auto memory = Ask<NvmlMemory>(call_->memory, handle)) {
    facts.memory_used_bytes = Whole<unsigned long long>(memory->used);
    facts.memory_total_bytes = Whole<unsigned long long>(memory->total);
  }
  if (const auto use = Ask<NvmlUtilization>(call_->utilization, handle)) {
    facts.utilisation_percent = use->gpu;
  }
  facts.temperature_celsius = Whole(Ask<unsigned>(call_->temperature, handle, kNvmlTemperatureGpu));
  facts.power_milliwatts = Whole(Ask<unsigned>(call_->power, handle));
  facts.throttle_reasons = Whole(Ask<unsigned long long>(call_->throttle_reasons, handle));
  facts.ecc_uncorrected = Whole(
      Ask<unsigned long long>(call_->ecc_errors, handle, kNvmlEccUncorrected, kNvmlEccVolatile));
  facts.sm_clock_mhz = Whole(Ask<unsigned>(call_->clock, handle, kNvmlClockSm));
  std::vector<NvmlProcess> processes(kProcessesMax);
  unsigned count = kProcessesMax;
  if (call_->processes != nullptr &&
      call_->processes(handle, &count, processes.data()) == kNvmlSuccess) {
    facts.processes.emplace();
    for (unsigned at = 0; at < std::min(count, kProcessesMax); ++at) {
      if (const auto bytes = Whole<unsigned long long>(processes[at].used_bytes)) {
        facts.processes->emplace_back(processes[at].pid, *bytes);
      }
    }
  }
  return facts;
}

}  // namespace whystop
