#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/event.h"
#include "record/recording_reader.h"
#include "stream/crash_place.h"
#include "stream/exception_texts.h"
#include "text/log_reader.h"
#include "wire/slot_decoder.h"

namespace whystop {

/// Is shown the job's output as it was recorded, beside the events made of it.
class OutputTap {
 public:
  virtual ~OutputTap() = default;
  /// `stream` is the name that places in the events have: "stdout", "stderr", "terminal".
  virtual void OnOutput(const char* stream, std::string_view bytes) = 0;
};

/// A recording as one stream of events in order of time: what was recorded, and what is understood
/// only now, when it is read: the job's output by text/, the probe's slots by wire/. Live and
/// post-mortem alike.
class RecordingStream {
 public:
  static Result<std::unique_ptr<RecordingStream>> Open(const std::string& directory, EventSink& out,
                                                       OutputTap* tap = nullptr);
  RecordingStream(const RecordingStream&) = delete;
  RecordingStream& operator=(const RecordingStream&) = delete;

  /// Hands on everything there is by now. Call again when the recording may have grown.
  void Pump();
  /// Says how far a job is that goes on, to its last line.
  void TellProgress();
  /// No more will come: closes open lines and tells what was damaged or dropped.
  void Finish();

  bool saw_end() const { return saw_end_; }

 private:
  RecordingStream(RecordingReader reader, std::string directory, EventSink& out, OutputTap* tap)
      : reader_(std::move(reader)), directory_(std::move(directory)), out_(out), recorded_(out), probe_out_(out), tap_(tap) {}
  void Feed(LogStream stream, std::string_view bytes, RunTime at);
  void Take(const LogBytes& log, RunTime at);
  void Take(const ProbeSlots& probe, RunTime at);
  void DrainRings();
  LogReader& ReaderOf(LogStream stream);

  RecordingReader reader_;
  std::string directory_;
  EventSink& out_;
  CrashPlaces recorded_;
  ExceptionTexts probe_out_;
  OutputTap* tap_;
  SlotDecoder slots_;
  std::map<LogStream, std::unique_ptr<LogReader>> logs_;
  std::map<LogStream, std::int64_t> log_next_;
  std::map<std::int64_t, std::uint64_t>
      slot_last_;  // Sequence of the newest recorded slot by process.
  RunTime last_at_{};
  bool saw_end_ = false;
  bool told_thinned_ = false;
};

}  // namespace whystop
