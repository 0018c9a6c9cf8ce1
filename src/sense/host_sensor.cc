#include "sense/host_sensor.h"

#include <unistd.h>

#include "sense/proc_text.h"

namespace whystop {

PressureSensor::PressureSensor(const std::string& before, const std::string& after,
                               DescriptorBudget& budget)
    : cpu_(before + "cpu" + after, budget),
      memory_(before + "memory" + after, budget),
      io_(before + "io" + after, budget) {}

void PressureSensor::Sample(SubjectId subject, Sweep& sweep) {
  std::array<char, 512> buffer{};
  if (const auto text = cpu_.Read(buffer)) {
    sweep.Add(subject, Quantity::kPressureCpuSome, ParsePressure(*text).some);
  }
  if (const auto text = memory_.Read(buffer)) {
    const Pressure pressure = ParsePressure(*text);
    sweep.Add(subject, Quantity::kPressureMemorySome, pressure.some);
    sweep.Add(subject, Quantity::kPressureMemoryFull, pressure.full);
  }
  if (const auto text = io_.Read(buffer)) {
    const Pressure pressure = ParsePressure(*text);
    sweep.Add(subject, Quantity::kPressureIoSome, pressure.some);
    sweep.Add(subject, Quantity::kPressureIoFull, pressure.full);
  }
}

HostSensor::HostSensor(const std::string& proc_root, DescriptorBudget& budget)
    : meminfo_(proc_root + "/meminfo", budget),
      vmstat_(proc_root + "/vmstat", budget),
      stat_(proc_root + "/stat", budget),
      loadavg_(proc_root + "/loadavg", budget),
      net_dev_(proc_root + "/net/dev", budget),
      pressure_(proc_root + "/pressure/", "", budget) {}

void HostSensor::Sample(Sweep& sweep) {
  static const std::int64_t kTickMs = 1000 / ::sysconf(_SC_CLK_TCK);
  const SubjectId host = sweep.Find({Subject::Kind::kHost, "", 0});
  const auto meminfo = meminfo_.Read(buffer_);
  memory_now_ = meminfo ? ParseMeminfo(*meminfo) : HostMemory{};
  sweep.Add(host, Quantity::kHostMemTotalBytes, memory_now_.total_bytes);
  sweep.Add(host, Quantity::kHostMemAvailableBytes, memory_now_.available_bytes);
  sweep.Add(host, Quantity::kHostSwapTotalBytes, memory_now_.swap_total_bytes);
  sweep.Add(host, Quantity::kHostSwapFreeBytes, memory_now_.swap_free_bytes);
  const auto vmstat = vmstat_.Read(buffer_);
  paging_now_ = vmstat ? ParseVmstat(*vmstat) : HostPaging{};
  sweep.Add(host, Quantity::kHostSwapInPages, paging_now_.swap_in_pages);
  sweep.Add(host, Quantity::kHostSwapOutPages, paging_now_.swap_out_pages);
  sweep.Add(host, Quantity::kHostOomKills, paging_now_.oom_kills);
  sweep.Add(host, Quantity::kHostMajorFaults, paging_now_.major_faults);
  if (const auto text = stat_.Read(buffer_)) {
    const HostCpu cpu = ParseHostStat(*text);
    sweep.Add(host, Quantity::kHostCpuBusyMs, Scaled(cpu.busy_ticks, kTickMs));
    sweep.Add(host, Quantity::kHostCpus, cpu.cpus);
  }
  if (const auto text = loadavg_.Read(buffer_)) {
    sweep.Add(host, Quantity::kHostLoadMilli, ParseLoadMilli(*text));
  }
  if (const auto text = net_dev_.Read(buffer_)) {
    const HostNetwork network = ParseNetDev(*text);
    sweep.Add(host, Quantity::kHostNetReceivedBytes, network.received_bytes);
    sweep.Add(host, Quantity::kHostNetSentBytes, network.sent_bytes);
    sweep.Add(host, Quantity::kHostNetErrors, network.errors);
  }
  pressure_.Sample(host, sweep);
}

}  // namespace whystop
