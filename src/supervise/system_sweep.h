#pragma once

#include <memory>
#include <set>
#include <vector>

#include "sense/system_sensors.h"
#include "supervise/sweep_source.h"

namespace whystop {

/// The sensors of sense/ as the recorder calls them.
class SystemSweep final : public SweepSource {
 public:
  explicit SystemSweep(const SenseOptions& options) : sensors_(SystemSensors::Create(options)) {}

  void Sweep(RunTime now, pid_t job, std::vector<Event>& out) override;
  void Reaped(pid_t pid) override;
  std::chrono::milliseconds NextInterval() override { return sensors_->NextInterval(); }

 private:
  std::unique_ptr<SystemSensors> sensors_;
  std::set<pid_t> reaped_;  // Since the last sweeps: their ends are on record with their status.
  std::set<pid_t> reaped_before_;
};

}  // namespace whystop
