#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "model/event.h"
#include "record/recording_writer.h"

namespace whystop {

inline constexpr std::uint32_t kRecordingFormat = 1;

/// Output of the job, raw: the reader of the recording understands it, not the recorder.
struct LogBytes {
  LogStream stream = LogStream::kStdout;
  std::int64_t offset = 0;  // Of the first byte within its stream.
  std::string bytes;
};

/// Slots of a probe's ring, raw (docs/wire.md).
struct ProbeSlots {
  std::int64_t pid = 0;
  std::string slots;
};

struct RecordingHeader {
  std::uint32_t format = kRecordingFormat;
  std::string whystop_version;
};

/// One message of a recording.
struct Record {
  RunTime at{};
  std::variant<Event, LogBytes, ProbeSlots, RecordingHeader> body;
};

/// The message of recording.proto for an event that a recording can hold. Derived events (Scalar,
/// LogFact, ...) are made when a recording is read and have none: empty.
std::string EncodeEvent(const Event& event);
std::string EncodeLog(RunTime at, LogStream stream, std::int64_t offset, std::string_view bytes);
std::string EncodeProbe(RunTime at, std::int64_t pid, std::string_view slots);
std::string EncodeHeader(const RecordingHeader& header);

/// A sample, with `key` set when it is whole.
std::string EncodeSample(RunTime at, const Sample& sample, bool key);

/// Nullopt: not a Record, or of a kind this build does not know. Never throws.
std::optional<Record> DecodeRecord(std::string_view message);

}  // namespace whystop
