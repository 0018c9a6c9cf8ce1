#include "wire/slot_decoder.h"

#include <algorithm>
#include <cstring>

#include "wire/observation_decoder.h"

namespace whystop {
namespace {

constexpr std::size_t kProcessesMax = 4096;
constexpr std::size_t kNamesMax = 16384;

template <typename Body>
Body Load(std::string_view bytes) {
  Body body{};
  std::memcpy(&body, bytes.data(), std::min(sizeof(body), bytes.size()));
  return body;
}

void PushDrop(const char* counter, std::uint64_t count, RunTime at, EventSink& out) {
  if (count > 0) {
    const auto bounded = static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
    out.Push({at, Drop{.counter = counter, .count = bounded}});
  }
}

template <typename T>
std::optional<T> If(bool present, T value) {
  return present ? std::optional<T>(value) : std::nullopt;
}

std::string NameOf(const std::unordered_map<std::uint64_t, std::string>& names, std::uint64_t id) {
  const auto found = names.find(id);
  return found == names.end() ? "name#" + std::to_string(id) : found->second;
}

SeriesRole RoleOf(std::uint8_t role) {
  const auto last = static_cast<std::uint8_t>(SeriesRole::kValidationScore);
  return role <= last ? static_cast<SeriesRole>(role) : SeriesRole::kOther;
}

void TakeName(std::unordered_map<std::uint64_t, std::string>& names, std::string_view body) {
  if (body.size() < 10) {
    return;
  }
  const auto id = Load<std::uint64_t>(body);
  const std::size_t length = Load<std::uint16_t>(body.substr(8));
  if (length > kNameBytesMax || length > body.size() - 10) {
    return;
  }
  if (names.size() < kNamesMax || names.contains(id)) {
    names[id] = std::string(body.substr(10, length));
  }
}

Progress ProgressOf(const ProgressBody& body) {
  Progress progress;
  progress.epoch = If((body.present & ProgressBody::kEpoch) != 0, body.epoch);
  progress.epochs_planned = If((body.present & ProgressBody::kEpochs) != 0, body.epochs_planned);
  progress.step = If((body.present & ProgressBody::kStep) != 0, body.step);
  progress.steps_planned = If((body.present & ProgressBody::kSteps) != 0, body.steps_planned);
  return progress;
}

std::string ShortText(std::string_view body) {
  const std::size_t length = body.empty() ? 0 : static_cast<unsigned char>(body[0]);
  return std::string(body.substr(std::min<std::size_t>(1, body.size())).substr(0, length));
}

}  // namespace

struct SlotDecoder::Record {
  RunTime at;
  SlotKind kind;
  std::string_view body;
};

RunTime SlotDecoder::TimeOf(std::uint64_t slot_ns, RunTime at) const {
  if (!run_start_ns_) {
    return at;
  }
  const auto ns = static_cast<std::int64_t>(std::min<std::uint64_t>(slot_ns, INT64_MAX / 2));
  return std::clamp(RunTime(ns - *run_start_ns_), RunTime(0), std::max(at, RunTime(0)));
}

void SlotDecoder::Feed(std::int64_t pid, RunTime at, std::string_view slots, EventSink& out) {
  if (processes_.size() >= kProcessesMax && !processes_.contains(pid)) {
    PushDrop("wire.too_many_processes", slots.size() / kSlotBytes, at, out);
    return;
  }
  Process& process = processes_[pid];
  process.pid = pid;
  for (; slots.size() >= kSlotBytes; slots.remove_prefix(kSlotBytes)) {
    TakeSlot(process, at, Load<Slot>(slots), out);
  }
}

void SlotDecoder::TakeSlot(Process& process, RunTime at, const Slot& slot, EventSink& out) {
  if (slot.kind == static_cast<std::uint8_t>(SlotKind::kHello) && !run_start_ns_ &&
      slot.at_ns < INT64_MAX / 2) {
    run_start_ns_ = static_cast<std::int64_t>(slot.at_ns) -
                    std::clamp<std::int64_t>(at.count(), 0, INT64_MAX / 2);
  }
  const std::string_view body(reinterpret_cast<const char*>(slot.body), kSlotBodyBytes);
  const Record whole{TimeOf(slot.at_ns, at), static_cast<SlotKind>(slot.kind), body};
  if (slot.parts == 1 && slot.part == 0) {
    TakeRecord(process, whole, out);
    return;
  }
  if (slot.part == 0) {
    PushDrop("wire.records_cut", process.parts > 0 ? 1 : 0, at, out);
    process.body.assign(body);
    process.kind = slot.kind;
    process.parts = slot.parts <= kPartsMax ? slot.parts : 0;
    process.parts_come = 1;
    process.next_sequence = slot.sequence + 1;
    return;
  }
  const bool follows = process.parts > 0 && slot.parts == process.parts &&
                       slot.part == process.parts_come && slot.kind == process.kind &&
                       slot.sequence == process.next_sequence;
  if (!follows) {
    PushDrop("wire.records_cut", process.parts > 0 ? 1 : 0, at, out);
    process.parts = 0;
    return;
  }
  process.body += body;
  ++process.parts_come;
  ++process.next_sequence;
  if (process.parts_come == process.parts) {
    process.parts = 0;
    TakeRecord(process, {whole.at, whole.kind, process.body}, out);
  }
}

void SlotDecoder::TakeStep(const Process& process, const Record& record, EventSink& out) const {
  const auto body = Load<StepBody>(record.body);
  const auto push = [&](const char* series, SeriesRole role, double value) {
    Scalar scalar;
    scalar.series = series;
    scalar.role = role;
    scalar.value = value;
    scalar.step = body.step;
    scalar.rank = process.rank;
    scalar.process = process.pid;
    scalar.training = process.training;
    out.Push({record.at, scalar});
  };
  if ((body.present & StepBody::kLoss) != 0) {
    push("loss", SeriesRole::kTrainLoss, body.loss);
  }
  if ((body.present & StepBody::kLr) != 0) {
    push("lr", SeriesRole::kLearningRate, body.lr);
  }
  if ((body.present & StepBody::kWait) != 0) {
    push("data_wait_s", SeriesRole::kOther, body.wait_s);
  }
  if ((body.present & StepBody::kDuration) != 0) {
    push("step_s", SeriesRole::kOther, body.duration_s);
  }
  if ((body.flags & StepBody::kSkipped) != 0) {
    push("step_skipped", SeriesRole::kOther, 1);
  }
  Progress progress;
  progress.step = body.step;
  progress.rank = process.rank;
  progress.process = process.pid;
  progress.training = process.training;
  out.Push({record.at, progress});
}

void SlotDecoder::TakeScalar(const Process& process, const Record& record, EventSink& out) const {
  const auto body = Load<ScalarBody>(record.body);
  Scalar scalar;
  scalar.series = NameOf(process.names, body.name);
  scalar.role = RoleOf(body.role);
  scalar.value = body.value;
  scalar.step = If((body.present & 1) != 0, body.step);
  scalar.rank = process.rank;
  scalar.process = process.pid;
  scalar.training = process.training;
  out.Push({record.at, scalar});
}

void SlotDecoder::TakeStats(const Process& process, const Record& record, EventSink& out) const {
  const auto body = Load<StatsBody>(record.body);
  if (body.what > static_cast<std::uint8_t>(TensorStats::What::kActivation)) {
    PushDrop("wire.unknown_records", 1, record.at, out);
    return;
  }
  TensorStats stats;
  stats.what = static_cast<TensorStats::What>(body.what);
  stats.tensor = NameOf(process.names, body.name);
  stats.step = body.step;
  stats.count = body.count;
  stats.nan_count = body.nan_count;
  stats.inf_count = body.inf_count;
  stats.zero_count = body.zero_count;
  stats.min = body.min;
  stats.max = body.max;
  stats.sum = body.sum;
  stats.sum_squares = body.sum_squares;
  stats.abs_max = body.abs_max;
  std::copy(std::begin(body.below), std::end(body.below), stats.below.begin());
  stats.rank = process.rank;
  stats.process = process.pid;
  stats.training = process.training;
  out.Push({record.at, stats});
}

void SlotDecoder::TakeRecord(Process& process, const Record& record, EventSink& out) {
  switch (record.kind) {
    case SlotKind::kName:
      TakeName(process.names, record.body);
      return;
    case SlotKind::kStep:
      TakeStep(process, record, out);
      return;
    case SlotKind::kScalar:
      TakeScalar(process, record, out);
      return;
    case SlotKind::kStats:
      TakeStats(process, record, out);
      return;
    case SlotKind::kObservation:
      if (const auto begun = DecodeObservation(
              record.body, {record.at, process.rank, process.pid, process.training}, out)) {
        process.training = begun;
      }
      return;
    case SlotKind::kPhase: {
      Observation phase;
      phase.kind = "phase";
      phase.rank = process.rank;
      phase.process = process.pid;
      phase.training = process.training;
      phase.attributes["phase"] = ShortText(record.body);
      out.Push({record.at, phase});
      return;
    }
    case SlotKind::kProgress: {
      Progress progress = ProgressOf(Load<ProgressBody>(record.body));
      progress.rank = process.rank;
      progress.process = process.pid;
      progress.training = process.training;
      out.Push({record.at, progress});
      return;
    }
    case SlotKind::kHello: {
      const auto body = Load<HelloBody>(record.body);
      process.rank = If(body.rank >= 0, static_cast<int>(body.rank));
      return;
    }
    case SlotKind::kGap: {
      const auto body = Load<GapBody>(record.body);
      PushDrop("wire.slots_overwritten", body.overwritten, record.at, out);
      PushDrop("wire.slots_damaged", body.damaged, record.at, out);
      PushDrop("wire.records_dropped", body.dropped, record.at, out);
      return;
    }
  }
  PushDrop("wire.unknown_records", 1, record.at, out);
}

}  // namespace whystop
