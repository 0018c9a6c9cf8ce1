// CPU time of one sweep of the sensors over a process tree, for bench/sample.py: prints
// microseconds of our own CPU time a sweep, for ordinary sweeps at 1 Hz and for sweeps that read
// everything.
//   sample_bench PID SWEEPS

#include <sys/resource.h>

#include <cstdio>

#include "base/parse.h"
#include "sense/system_sensors.h"

namespace {

using whystop::SenseOptions;
using whystop::SystemSensors;

double CpuUs() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

/// Time goes on by one second a sweep, so that slow and rare readings come as often as in a run.
double SweepUs(const SenseOptions& options, pid_t pid, int sweeps) {
  const auto sensors = SystemSensors::Create(options);
  const pid_t pids[] = {pid};
  std::vector<whystop::Event> events;
  std::chrono::seconds now(10);
  sensors->Sample(now, pids, events);  // Opening the descriptors belongs to the start of a run.
  const double before = CpuUs();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    events.clear();
    now += std::chrono::seconds(1);
    sensors->Sample(now, pids, events);
  }
  return (CpuUs() - before) / sweeps;
}

}  // namespace

int main(int count, char** arguments) {
  const auto pid = count == 3 ? whystop::ParseWhole<pid_t>(arguments[1]) : std::nullopt;
  const auto sweeps = count == 3 ? whystop::ParseWhole<int>(arguments[2]) : std::nullopt;
  if (!pid || !sweeps || *sweeps < 1) {
    std::fprintf(stderr, "usage: sample_bench PID SWEEPS\n");
    return 2;
  }
  SenseOptions ordinary;
  SenseOptions everything;
  everything.interval_slow = std::chrono::milliseconds(0);
  const double full_us = SweepUs(everything, *pid, *sweeps);
  const double ordinary_us = SweepUs(ordinary, *pid, *sweeps);
  std::printf("%.1f %.1f\n", ordinary_us, full_us);
  return 0;
}
