#include "stream/recording_stream.h"

#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "model/recorder_notes.h"
#include "record/recording_folder.h"
#include "wire/ring_format.h"
#include "wire/ring_reader.h"

namespace whystop {
namespace {

const char* NameOf(LogStream stream) {
  switch (stream) {
    case LogStream::kStdout:
      return "stdout";
    case LogStream::kStderr:
      return "stderr";
    case LogStream::kTerminal:
      break;
  }
  return "terminal";
}

std::uint64_t SequenceAt(std::string_view slots, std::size_t offset) {
  std::uint64_t sequence = 0;
  std::memcpy(&sequence, slots.data() + offset + offsetof(Slot, sequence), sizeof(sequence));
  return sequence;
}

}  // namespace

Result<std::unique_ptr<RecordingStream>> RecordingStream::Open(const std::string& directory,
                                                               EventSink& out, OutputTap* tap) {
  auto reader = RecordingReader::Open(directory);
  if (!reader) {
    return reader.error();
  }
  auto& in = *reader;
  return std::unique_ptr<RecordingStream>(new RecordingStream(std::move(in), directory, out, tap));
}

void RecordingStream::Pump() {
  if (reader_.thinned() && !std::exchange(told_thinned_, true)) {
    out_.Push({RunTime{}, RecorderNote{std::string(kThinnedNote)}});
  }
  while (auto record = reader_.Next()) {
    last_at_ = std::max(last_at_, record->at);
    if (const auto* log = std::get_if<LogBytes>(&record->body)) {
      Take(*log, record->at);
    } else if (const auto* probe = std::get_if<ProbeSlots>(&record->body)) {
      Take(*probe, record->at);
    } else if (const auto* event = std::get_if<Event>(&record->body)) {
      saw_end_ = saw_end_ || event->As<RunEnd>() != nullptr;
      recorded_.Push(*event);
    }
  }
}

LogReader& RecordingStream::ReaderOf(LogStream stream) {
  auto& reader = logs_[stream];
  if (!reader) {
    reader = std::make_unique<LogReader>(NameOf(stream), out_, LogReaderOptions{.one_run = true});
  }
  return *reader;
}

void RecordingStream::Feed(LogStream stream, std::string_view bytes, RunTime at) {
  ReaderOf(stream).Feed(bytes, at);
  if (tap_ != nullptr) {
    tap_->OnOutput(NameOf(stream), bytes);
  }
}

void RecordingStream::Take(const LogBytes& log, RunTime at) {
  std::int64_t& next = log_next_[log.stream];
  if (log.offset > next) {
    out_.Push({at, Drop{"record.log_bytes_between_head_and_tail", log.offset - next}});
    Feed(log.stream, "\n", at);  // The line before the gap and the line behind it are not one.
  }
  next = log.offset + static_cast<std::int64_t>(log.bytes.size());
  Feed(log.stream, log.bytes, at);
}

void RecordingStream::Take(const ProbeSlots& probe, RunTime at) {
  if (probe.slots.size() >= kSlotBytes) {
    std::uint64_t& last = slot_last_[probe.pid];
    last = std::max(
        last, SequenceAt(probe.slots, probe.slots.size() / kSlotBytes * kSlotBytes - kSlotBytes));
  }
  slots_.Feed(probe.pid, at, probe.slots, probe_out_);
}

/// What the trainee wrote after the recorder had died is still in its ring.
void RecordingStream::DrainRings() {
  std::error_code fault;
  const std::filesystem::path rings = directory_ + "/" + std::string(kRingFolder);
  for (const auto& entry : std::filesystem::directory_iterator(rings, fault)) {
    auto ring = RingReader::Open(entry.path().string());
    if (!ring) {
      continue;
    }
    const std::int64_t pid = ring->header().pid;
    const std::uint64_t recorded = slot_last_[pid];
    ring->Drain([this, pid, recorded](std::string_view slots) {
      for (std::size_t at = 0; at + kSlotBytes <= slots.size(); at += kSlotBytes) {
        const std::uint64_t sequence = SequenceAt(slots, at);
        if (sequence == 0 || sequence > recorded) {
          slots_.Feed(pid, last_at_, slots.substr(at, kSlotBytes), probe_out_);
        }
      }
    });
  }
}

void RecordingStream::TellProgress() {
  for (const auto& [stream, reader] : logs_) {
    reader->TellProgress();
  }
}

void RecordingStream::Finish() {
  Pump();
  if (!saw_end_) {
    DrainRings();
  }
  for (const auto& [stream, reader] : logs_) {
    reader->Finish(last_at_, std::nullopt);
  }
  const RecordingDamage damage = reader_.DamageAtEnd();
  const std::pair<const char*, std::int64_t> counters[] = {
      {"record.corrupt_frames", damage.corrupt_frames},
      {"record.corrupt_bytes", damage.corrupt_bytes},
      {"record.unknown_messages", damage.unknown_messages}};
  for (const auto& [counter, count] : counters) {
    if (count > 0) {
      out_.Push({last_at_, Drop{counter, count}});
    }
  }
}

}  // namespace whystop
