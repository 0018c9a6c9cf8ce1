#include "watch/series_point.h"

#include <fmt/format.h>

#include <cstring>

#include "wire/ring_format.h"

namespace whystop {
namespace {

constexpr std::size_t kProcessesMax = 4096;

template <typename Body>
Body Load(std::string_view bytes) {
  Body body{};
  std::memcpy(&body, bytes.data(), std::min(sizeof(body), bytes.size()));
  return body;
}

/// The bodies of a record's slots, joined.
std::string BodyOf(std::string_view slots) {
  std::string body;
  for (; slots.size() >= kSlotBytes; slots.remove_prefix(kSlotBytes)) {
    body += slots.substr(offsetof(Slot, body), kSlotBodyBytes);
  }
  return body;
}

std::vector<double> ValuesOf(const StepBody& step) {
  std::vector<double> values;
  for (const auto& [bit, value] : {std::pair(StepBody::kLoss, step.loss), std::pair(StepBody::kLr, step.lr),
                                   std::pair(StepBody::kWait, step.wait_s),
                                   std::pair(StepBody::kDuration, step.duration_s)}) {
    values.push_back((step.present & bit) != 0 ? value : 0);
  }
  values.push_back(step.flags & StepBody::kSkipped);
  return values;
}

/// "loop-exit": behind the step, two bytes and its length (docs/wire.md).
std::string_view KindOfObservation(std::string_view body) {
  constexpr std::size_t kLengthAt = 10;
  return body.size() <= kLengthAt
             ? std::string_view()
             : body.substr(kLengthAt + 1, static_cast<unsigned char>(body[kLengthAt]));
}

/// Fills in which series a record of a ring belongs to, and its values.
void Describe(std::int64_t pid, SlotKind kind, std::string_view body, SeriesPoint& point) {
  const auto number = static_cast<int>(kind);
  point.key = fmt::format("{}/{}", pid, number);
  switch (kind) {
    case SlotKind::kStep:
      point.values = ValuesOf(Load<StepBody>(body));
      return;
    case SlotKind::kScalar: {
      const auto scalar = Load<ScalarBody>(body);
      point.key += fmt::format("/{}", scalar.name);
      point.values = {scalar.value};
      return;
    }
    case SlotKind::kStats: {
      const auto stats = Load<StatsBody>(body);
      point.key += fmt::format("/{}/{}", stats.name, stats.what);
      point.values = {stats.abs_max, stats.sum_squares,
                      static_cast<double>(stats.nan_count + stats.inf_count)};
      return;
    }
    case SlotKind::kProgress: {
      const auto progress = Load<ProgressBody>(body);
      point.values = {progress.epoch, progress.epochs_planned, static_cast<double>(progress.steps_planned)};
      return;
    }
    case SlotKind::kName:
      point.key += fmt::format("/{}", Load<std::uint64_t>(body));
      point.keep = SeriesPoint::Keep::kOnce;
      return;
    case SlotKind::kHello:
      point.keep = SeriesPoint::Keep::kOnce;
      return;
    case SlotKind::kObservation: {
      const std::string_view what = KindOfObservation(body);
      point.key += fmt::format("/{}", what);
      point.keep = SeriesPoint::Keep::kFew;
      if (what == "training") {  // All that follows belongs to it.
        point.key += fmt::format("/{:x}", std::hash<std::string_view>{}(body));
      }
      return;
    }
    case SlotKind::kPhase:
    case SlotKind::kGap:
      point.keep = SeriesPoint::Keep::kFew;
      return;
  }
  point.keep = SeriesPoint::Keep::kFew;
}

/// What happened beside the series: which of it is alike.
std::string KeyOf(const Event& event) {
  std::string key = fmt::format("e{}", event.body.index());
  if (const auto* end = event.As<ProcessEnd>()) {
    key += end->end == ChildEnd::Exited(0) ? "/well" : "/badly";
  } else if (const auto* seen = event.As<Observation>()) {
    key += "/" + seen->kind;
  } else if (const auto* drop = event.As<Drop>()) {
    key += "/" + drop->counter;
  }
  return key;
}

}  // namespace

void PointCutter::Cut(const Record& record, const Taker& take) {
  if (const auto* slots = std::get_if<ProbeSlots>(&record.body)) {
    CutSlots(record.at, *slots, take);
    return;
  }
  const auto* event = std::get_if<Event>(&record.body);
  if (event == nullptr) {
    return;
  }
  if (const auto* sample = event->As<Sample>()) {
    CutSample(record.at, *sample, take);
    return;
  }
  SeriesPoint point{record.at, KeyOf(*event), SeriesPoint::Keep::kFew, {}, EncodeEvent(*event)};
  if (const auto* tie = event->As<ClockTie>()) {
    point.keep = SeriesPoint::Keep::kExtremes;
    point.values = {static_cast<double>(tie->suspended.count())};
  } else if (const auto* seen = event->As<SubjectSeen>()) {
    // Processes come and go; the host, its disks and its GPUs are few.
    point.keep = seen->subject.kind == Subject::Kind::kProcess ? SeriesPoint::Keep::kFew
                                                               : SeriesPoint::Keep::kOnce;
    point.key += fmt::format("/{}", point.keep == SeriesPoint::Keep::kOnce ? seen->id : 0);
  }
  take(std::move(point));
}

void PointCutter::CutSample(RunTime at, const Sample& sample, const Taker& take) const {
  for (const Reading& reading : sample.readings) {
    take({at, fmt::format("r{}/{}", reading.subject, static_cast<int>(reading.quantity)),
          SeriesPoint::Keep::kExtremes,
          {static_cast<double>(reading.value)},
          EncodeSample(at, Sample{{reading}}, /*key=*/false)});
  }
}

void PointCutter::CutSlots(RunTime at, const ProbeSlots& probe, const Taker& take) {
  if (begun_.size() >= kProcessesMax && !begun_.contains(probe.pid)) {
    begun_.clear();
  }
  std::string& begun = begun_[probe.pid];
  std::string_view rest = probe.slots;
  for (; rest.size() >= kSlotBytes; rest.remove_prefix(kSlotBytes)) {
    const Slot slot = Load<Slot>(rest);
    if (slot.part == 0) {
      begun.clear();
    } else if (begun.size() != slot.part * kSlotBytes) {
      continue;  // Its beginning is not here.
    }
    begun += rest.substr(0, kSlotBytes);
    if (slot.part + 1 < slot.parts) {
      continue;
    }
    SeriesPoint point;
    point.at = at;
    Describe(probe.pid, static_cast<SlotKind>(slot.kind), BodyOf(begun), point);
    point.message = EncodeProbe(at, probe.pid, begun);
    begun.clear();
    take(std::move(point));
  }
}

}  // namespace whystop
