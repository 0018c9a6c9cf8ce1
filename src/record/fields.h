#pragma once

#include <cstdint>

namespace whystop {

/// Field numbers of recording.proto that both the encoder and the decoder switch on.
enum RecordField : std::uint32_t {
  kRecordAt = 1,
  kRecordHeader = 2,
  kRecordRunStart = 3,
  kRecordSubjectSeen = 4,
  kRecordSample = 5,
  kRecordProcessStart = 6,
  kRecordProcessEnd = 7,
  kRecordSignalSeen = 8,
  kRecordClockTie = 9,
  kRecordKernelLine = 10,
  kRecordLogBytes = 11,
  kRecordProbeSlots = 12,
  kRecordDrop = 13,
  kRecordRecorderNote = 14,
  kRecordRunEnd = 15,
  kRecordObservation = 16,
};

enum EndField : std::uint32_t { kEndSignaled = 1, kEndNumber = 2, kEndDumpedCore = 3 };

}  // namespace whystop
