#include "watch/progress_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/human.h"
#include "wire/ring_format.h"

namespace whystop {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kProcessesMax = 4096;
constexpr std::size_t kPhasesMax = 64;  // A program may make up words; those beyond are told apart no more.
// A choice: logs and event files are smaller, and a checkpoint that is smaller takes no time to speak of.
constexpr std::int64_t kCheckpointBytes = 64 << 20;

/// The word of a PHASE slot: its length and its bytes.
std::string_view PhaseOf(const Slot& slot) {
  const auto* text = reinterpret_cast<const char*>(slot.body) + 1;
  return {text, std::min<std::size_t>(slot.body[0], kPhaseBytesMax)};
}

}  // namespace

void ProgressWatch::Take(const Record& record) {
  if (const auto* event = std::get_if<Event>(&record.body)) {
    Take(*event);
  } else if (const auto* probe = std::get_if<ProbeSlots>(&record.body)) {
    Take(*probe, record.at);
  } else if (std::holds_alternative<LogBytes>(record.body)) {
    TakeOutput(record.at);
  }
}

void ProgressWatch::Take(const Event& event) {
  if (const auto* start = event.As<RunStart>()) {
    job_pid_ = start->pid;
  } else if (const auto* tie = event.As<ClockTie>()) {
    wall_offset_ = event.at - tie->wall;
  } else if (const auto* sample = event.As<Sample>()) {
    Take(*sample, event.at);
  } else if (event.As<RunEnd>() != nullptr) {
    ended_ = true;
  }
}

void ProgressWatch::Take(const Sample& sample, RunTime at) {
  std::optional<std::int64_t> gpu;
  for (const Reading& reading : sample.readings) {
    if (reading.quantity == Quantity::kGpuUtilisationPercent) {
      gpu = std::max(gpu.value_or(0), reading.value);
    } else if (reading.quantity == Quantity::kTreeWrittenBytes) {
      TakeWritten(reading.value, at);
    }
  }
  gpu_percent_ = gpu.value_or(gpu_percent_);
}

void ProgressWatch::Take(const ProbeSlots& probe, RunTime at) {
  for (std::size_t i = 0; i + kSlotBytes <= probe.slots.size(); i += kSlotBytes) {
    Slot slot;
    std::memcpy(&slot, probe.slots.data() + i, sizeof(slot));
    const auto kind = static_cast<SlotKind>(slot.kind);
    if (kind == SlotKind::kHello && ranks_.size() < kProcessesMax) {
      HelloBody hello;
      std::memcpy(&hello, slot.body, sizeof(hello));
      if (hello.rank >= 0 && hello.world_size > 1) {
        ranks_[probe.pid] = {hello.rank, hello.world_size};
      }
    } else if (kind == SlotKind::kPhase && !PhaseOf(slot).empty()) {
      Enter(PhaseOf(slot), probe.pid, at);
    } else if (kind == SlotKind::kStep && TakeStep(slot, probe.pid, at)) {
      // While one rank evaluates, the last step of another may still be under way.
      const bool is_over = phase_said_by_ == 0 || phase_said_by_ == probe.pid;
      is_over ? Enter(kTrainPhase, 0, at) : Signed(at);
    }
  }
}

/// Whether it is further than any before.
bool ProgressWatch::TakeStep(const Slot& slot, std::int64_t pid, RunTime at) {
  if (steps_.size() >= kProcessesMax && !steps_.contains(pid)) {
    return false;
  }
  StepBody body;
  std::memcpy(&body, slot.body, sizeof(body));
  Stepped& known = steps_[pid];
  const bool further = body.step > known.step;
  known.step = std::max(known.step, body.step);
  known.at = at;
  const auto rank = RankOf(pid);
  known.rank = rank ? std::optional(rank->rank) : std::nullopt;
  return further;
}

/// Lines are signs until steps are seen: a heartbeat that a thread prints is no step.
void ProgressWatch::TakeOutput(RunTime at) {
  has_output_ = true;
  if (steps_.empty()) {
    phase_said_by_ == 0 ? Enter(kOutputPhase, 0, at) : Signed(at);
  }
}

/// So much between two signs is no log: it is being saved.
void ProgressWatch::TakeWritten(std::int64_t bytes, RunTime at) {
  written_bytes_ = std::max(written_bytes_, bytes);
  const bool has_pace = phase_ == kTrainPhase || phase_ == kOutputPhase;
  if (has_pace && written_bytes_ - written_then_ >= kCheckpointBytes) {
    Enter(kCheckpointPhase, 0, at);
  }
}

void ProgressWatch::Signed(RunTime at) {
  const nanoseconds pause = at - last_sign_;
  const bool has_room = pauses_.size() < kPhasesMax || pauses_.contains(phase_);
  if (last_sign_.count() > 0 && pause.count() > 0 && has_room) {  // What came before the first one was the start.
    pauses_[phase_].Add(pause);
  }
  last_sign_ = std::max(last_sign_, at);
  written_then_ = written_bytes_;
}

void ProgressWatch::Enter(std::string_view phase, std::int64_t said_by, RunTime at) {
  Signed(at);
  phase_ = phase;
  phase_said_by_ = said_by;
}

nanoseconds ProgressWatch::Silence(RunTime now) const {
  return std::max(nanoseconds(0), now - last_sign_);
}

SilenceLimit ProgressWatch::Limit() const {
  if (hang_after_) {
    return {*hang_after_, *hang_after_, "asked for by --hang-after"};
  }
  const auto known = pauses_.find(phase_);
  return (known == pauses_.end() ? PhasePauses() : known->second).Limit(phase_);
}

std::optional<ProgressWatch::Rank> ProgressWatch::RankOf(std::int64_t pid) const {
  const auto known = ranks_.find(pid);
  return known == ranks_.end() ? std::nullopt : std::optional(known->second);
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
    const std::string step = fmt::format("step {}", HumanCount(furthest));
    return phase_ == kTrainPhase ? step : phase_ + " after " + step;
  }
  return has_output_ ? "a line of output" : "its start";
}

}  // namespace whystop
