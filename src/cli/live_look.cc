#include "cli/live_look.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "base/clock.h"
#include "base/fd.h"
#include "base/shown_text.h"
#include "report/look_report.h"
#include "report/resource_report.h"
#include "sense/process_limits.h"
#include "sense/system_sensors.h"

namespace whystop {
namespace {

constexpr int kLiveEpisode = 1 << 30;  // The watcher counts its own from 1.

void Wait(std::chrono::nanoseconds time) {
  ::poll(nullptr, 0, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()));
}

}  // namespace

LiveLook LookAtJob(pid_t pid, int looks, std::chrono::nanoseconds pause) {
  LiveLook out;
  SenseOptions options;
  options.interval_slow = options.interval_rare = std::chrono::milliseconds(0);  // Everything in both sweeps.
  const auto sensors = SystemSensors::Create(options);
  std::vector<std::vector<Snapshot>> taken;
  const std::chrono::nanoseconds first = MonotonicNow();
  sensors->Sample(RunTime{}, {&pid, 1}, out.sensed);
  for (int i = 0; i < looks; ++i) {
    if (i > 0) {
      Wait(pause);
    }
    taken.push_back(LookAtTree(pid, 0));
  }
  out.elapsed = MonotonicNow() - first;
  sensors->Sample(out.elapsed, {&pid, 1}, out.sensed);
  out.seen = CompareLooks(taken, out.elapsed);
  if (const auto text = ReadFile(fmt::format("/proc/{}/limits", pid), 8192)) {
    out.limits = ParseProcessLimits(*text);
  }
  return out;
}

std::vector<Event> MovingEvents(const LiveLook& look, RunTime at) {
  std::vector<Event> events;
  for (const ProcessLook& process : look.seen.processes) {
    events.push_back({at, ToObservation(process, kLiveEpisode)});
  }
  Observation moving;
  moving.kind = "moving";
  moving.attributes["episode"] = static_cast<double>(kLiveEpisode);
  moving.attributes["live"] = 1.0;
  moving.attributes["cpu_share"] = look.seen.cpu_share;
  moving.attributes["processes"] = static_cast<double>(look.seen.processes.size());
  events.push_back({at, std::move(moving)});
  return events;
}

std::string RenderLive(const LiveLook& look) {
  return ShownLines(RenderLooks(look.seen.processes) + RenderResources(look.sensed, look.limits));
}

}  // namespace whystop
