#pragma once

#include <array>
#include <string>

#include "sense/host_parse.h"
#include "sense/kept_file.h"
#include "sense/subject_table.h"

namespace whystop {

/// The three pressure files of the machine ("/proc/pressure/memory") or of a v2 control group
/// ("<group>/memory.pressure").
class PressureSensor {
 public:
  /// `before` and `after` enclose "cpu", "memory" and "io".
  PressureSensor(const std::string& before, const std::string& after, DescriptorBudget& budget);
  void Sample(SubjectId subject, Sweep& sweep);

 private:
  KeptFile cpu_;
  KeptFile memory_;
  KeptFile io_;
};

/// Memory, swap, CPU, network and pressure of the whole machine.
class HostSensor {
 public:
  HostSensor(const std::string& proc_root, DescriptorBudget& budget);
  void Sample(Sweep& sweep);

  const HostMemory& memory() const { return memory_now_; }
  const HostPaging& paging() const { return paging_now_; }

 private:
  KeptFile meminfo_;
  KeptFile vmstat_;
  KeptFile stat_;
  KeptFile loadavg_;
  KeptFile net_dev_;
  PressureSensor pressure_;
  HostMemory memory_now_;
  HostPaging paging_now_;
  std::array<char, 16384> buffer_{};
};

}  // namespace whystop
