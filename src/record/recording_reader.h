#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "base/tfrecord.h"
#include "record/message.h"

namespace whystop {

/// What was wrong with the files of a recording. A torn tail is how every recording ends whose
/// writer was killed.
struct RecordingDamage {
  std::int64_t torn_bytes = 0;
  std::int64_t corrupt_frames = 0;
  std::int64_t corrupt_bytes = 0;
  std::int64_t unknown_messages = 0;
};

/// Reads one file of frames, now and again later when it has grown.
class RecordFile {
 public:
  explicit RecordFile(Fd fd) : fd_(std::move(fd)), frames_(kMessageBytesMax), buffer_(kReadBytes) {}

  /// The next sound record; nullopt: no more for now.
  std::optional<Record> Next();
  /// Call when there will be no more: what is left over is a torn tail.
  RecordingDamage DamageAtEnd() const;

 private:
  static constexpr std::size_t kMessageBytesMax = 4 << 20;
  static constexpr std::size_t kReadBytes = 256 << 10;
  bool Refill();
  void StartOver();

  Fd fd_;
  off_t offset_ = 0;
  TfRecordReader frames_;
  std::vector<char> buffer_;
  RecordingDamage damage_;
  std::int64_t unread_ = 0;  // Given up: see kGarbageBytesMax.
  std::uint64_t skipped_sound_ =
      0;  // Bytes passed over before the last sound frame: corruption, not a torn tail.
};

/// All files of a recording as one sequence in order of time. Log bytes come once each, whatever
/// the files repeat.
class RecordingReader {
 public:
  static Result<RecordingReader> Open(const std::string& directory);

  /// The next record; nullopt: no more for now (a live reader waits and calls again).
  std::optional<Record> Next();
  RecordingDamage DamageAtEnd() const;
  const RecordingHeader& header() const { return header_; }
  /// Whether the middle of the run is thinned: some points stand for more time than others.
  bool thinned() const { return thinned_; }
  /// Whether the last record stood in the late files: it will give way to newer ones.
  bool last_was_late() const { return last_was_late_; }

 private:
  struct Source {
    std::unique_ptr<RecordFile> file;
    std::optional<Record> head;
    enum class Part { kOther, kLate, kMiddle } part = Part::kOther;
    bool at_end = false;  // Looked at since the last end and found exhausted.
  };
  bool DropRepeatedLog(Record& record);

  std::vector<Source> sources_;
  RecordingHeader header_;
  bool thinned_ = false;
  bool last_was_late_ = false;
  bool late_seen_ = false;
  std::map<LogStream, std::int64_t> log_offset_;
};

/// True when the folder holds a recording (finished or not).
bool IsRecording(const std::string& directory);

}  // namespace whystop
