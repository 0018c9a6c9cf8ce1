#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event.h"

namespace whystop {

enum class LogStream : std::uint8_t { kStdout = 1, kStderr = 2, kTerminal = 3 };

struct RecordingOptions {
  std::int64_t log_head_bytes = 8 << 20;  // Of the job's output kept from the start...
  std::int64_t log_tail_bytes =
      24 << 20;  // ...and from the end; what lies between is counted and dropped.
  // Of events, with the log's head: so many from the start and, in a run that has more, so many from
  // the end; of what lies between, so much as is worth keeping.
  std::int64_t events_bytes = 80 << 20;
  std::int64_t late_bytes = 48 << 20;
  std::int64_t middle_bytes = 28 << 20;
  std::size_t queue_bytes = 16 << 20;  // Waiting for the disk at most.
};

/// What a recording may take in all, if nobody says otherwise.
inline constexpr std::int64_t kRecordingBytes = 200'000'000;
inline constexpr std::int64_t kRecordingBytesMin = 4 << 20;

/// Shares of a budget for a whole recording. The log keeps what `log_head_bytes` and `log_tail_bytes`
/// ask for, as long as that leaves most of it to the events.
RecordingOptions ShareOut(std::int64_t recording_bytes, RecordingOptions wanted);

/// Writes one recording: a directory that this process has locked. No call blocks on the disk and
/// none fails: what cannot be kept is counted, and the report says so. Calls come from one thread;
/// a thread of its own does the writing. Before fork() nothing runs: `Start` begins the thread, so
/// that a standby process can inherit an opened writer and start it only if it must take over.
class RecordingWriter {
 public:
  /// Makes the directory (0700) if need be, locks it and opens its files (0600). Fails when another
  /// whystop holds the lock (kBusy, with its pid), or nothing can be written there.
  static Result<std::unique_ptr<RecordingWriter>> Create(const std::string& directory,
                                                         const RecordingOptions& options);
  /// A writer that keeps nothing, for a run whose recording could not be made.
  static std::unique_ptr<RecordingWriter> Null();

  virtual ~RecordingWriter() = default;
  virtual void Start() = 0;
  virtual void Append(const Event& event) = 0;
  /// Output of the job, as it came. Bounded by the head and tail of the options.
  virtual void AppendLog(RunTime at, LogStream stream, std::string_view bytes) = 0;
  /// So many bytes of it were not taken: they stand as a gap before what comes next.
  virtual void SkipLog(LogStream stream, std::int64_t bytes) = 0;
  /// Raw slots of a probe's ring, understood when read.
  virtual void AppendProbe(RunTime at, std::int64_t pid, std::string_view slots) = 0;
  /// How much of the probes' slots was refused by the disk or given up so far; nothing while appended records
  /// wait to be written. What was appended since the number last grew is in the files and outlives this
  /// process: what it was copied from is not needed any more.
  virtual std::optional<std::int64_t> ProbeBytesLost() const = 0;
  /// Writes everything out and syncs it. The one call that waits for the disk; made at the end of
  /// the run.
  virtual void Finish() = 0;
  /// Why recording stopped ("No space left on device"), or empty.
  virtual std::string fault() const = 0;
};

}  // namespace whystop
