#include "watch/progress_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/human.h"
#include "wire/ring_format.h"

namespace whystop {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t kPausesKept = 101;
constexpr std::size_t kProcessesMax = 4096;

// A choice: no run that was looked at did nothing at all for so long and went on, but for waits
// that its author had asked for. Before the first step programs wait for downloads and for others.
constexpr seconds kStartFloor{300};
constexpr seconds kFloor{120};
// One call that computes for minutes is ordinary (a decomposition, a sort, a tree being built).
constexpr seconds kBusyFloor{1800};
// A choice: how many times its usual pace, and its longest pause so far, a run may take.
constexpr int kTimesUsual = 10;
constexpr int kTimesLongest = 3;

}  // namespace

void ProgressWatch::Take(const Record& record) {
  if (const auto* event = std::get_if<Event>(&record.body)) {
    Take(*event);
  } else if (const auto* probe = std::get_if<ProbeSlots>(&record.body)) {
    Take(*probe, record.at);
  } else if (std::holds_alternative<LogBytes>(record.body)) {
    has_output_ = true;
    if (steps_.empty()) {
      Signed(record.at);
    }
  }
}

void ProgressWatch::Take(const Event& event) {
  if (const auto* start = event.As<RunStart>()) {
    job_pid_ = start->pid;
  } else if (const auto* tie = event.As<ClockTie>()) {
    wall_offset_ = event.at - tie->wall;
  } else if (const auto* sample = event.As<Sample>()) {
    Take(*sample);
  } else if (event.As<RunEnd>() != nullptr) {
    ended_ = true;
  }
}

void ProgressWatch::Take(const Sample& sample) {
  std::optional<std::int64_t> gpu;
  for (const Reading& reading : sample.readings) {
    if (reading.quantity == Quantity::kGpuUtilisationPercent) {
      gpu = std::max(gpu.value_or(0), reading.value);
    }
  }
  gpu_percent_ = gpu.value_or(gpu_percent_);
}

void ProgressWatch::Take(const ProbeSlots& probe, RunTime at) {
  bool stepped = false;
  for (std::size_t i = 0; i + kSlotBytes <= probe.slots.size(); i += kSlotBytes) {
    Slot slot;
    std::memcpy(&slot, probe.slots.data() + i, sizeof(slot));
    if (slot.kind == static_cast<std::uint8_t>(SlotKind::kHello) && ranks_.size() < kProcessesMax) {
      HelloBody hello;
      std::memcpy(&hello, slot.body, sizeof(hello));
      if (hello.rank >= 0 && hello.world_size > 1) {
        ranks_[probe.pid] = hello.rank;
      }
    }
    if (slot.kind != static_cast<std::uint8_t>(SlotKind::kStep) ||
        (steps_.size() >= kProcessesMax && !steps_.contains(probe.pid))) {
      continue;
    }
    StepBody body;
    std::memcpy(&body, slot.body, sizeof(body));
    Stepped& known = steps_[probe.pid];
    stepped = stepped || body.step > known.step;
    known.step = std::max(known.step, body.step);
    known.at = at;
    const auto rank = ranks_.find(probe.pid);
    known.rank = rank == ranks_.end() ? std::nullopt : std::optional(rank->second);
  }
  if (stepped) {
    Signed(at);
  }
}

void ProgressWatch::Signed(RunTime at) {
  const nanoseconds pause = at - last_sign_;
  if (last_sign_.count() > 0 && pause.count() > 0) {  // What came before the first one was the start.
    longest_pause_ = std::max(longest_pause_, pause);
    if (pauses_.size() < kPausesKept) {
      pauses_.push_back(pause);
    } else {
      pauses_[pause_next_++ % kPausesKept] = pause;
    }
  }
  last_sign_ = std::max(last_sign_, at);
}

nanoseconds ProgressWatch::Silence(RunTime now) const {
  return std::max(nanoseconds(0), now - last_sign_);
}

SilenceLimit ProgressWatch::Limit() const {
  if (hang_after_) {
    return {*hang_after_, *hang_after_, "asked for by --hang-after"};
  }
  if (steps_.empty() && pauses_.empty()) {
    return {kStartFloor, kBusyFloor,
            fmt::format("{} of doing nothing at the start", HumanDuration(kStartFloor))};
  }
  std::vector<nanoseconds> sorted = pauses_;
  std::sort(sorted.begin(), sorted.end());
  const nanoseconds usual = sorted.empty() ? nanoseconds(0) : sorted[sorted.size() / 2];
  const nanoseconds learned = std::max(usual * kTimesUsual, longest_pause_ * kTimesLongest);
  SilenceLimit limit{std::max<nanoseconds>(learned, kFloor), std::max<nanoseconds>(learned, kBusyFloor), {}};
  if (learned <= kFloor) {
    limit.reason = fmt::format("{} of doing nothing", HumanDuration(kFloor));
  } else if (usual * kTimesUsual >= longest_pause_ * kTimesLongest) {
    limit.reason = fmt::format("{} times its usual pause of {}", kTimesUsual, HumanDuration(usual));
  } else {
    limit.reason = fmt::format("{} times its longest pause so far, {}", kTimesLongest,
                               HumanDuration(longest_pause_));
  }
  return limit;
}

std::int64_t ProgressWatch::FurthestStep() const {
  std::int64_t furthest = 0;
  for (const auto& [pid, stepped] : steps_) {
    furthest = std::max(furthest, stepped.step);
  }
  return furthest;
}

std::string ProgressWatch::LastSign() const {
  if (const std::int64_t furthest = FurthestStep(); furthest > 0) {
    return fmt::format("step {}", HumanCount(furthest));
  }
  return has_output_ ? "a line of output" : "its start";
}

}  // namespace whystop
