#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "record/recording_writer.h"
#include "supervise/run_state.h"
#include "wire/ring_reader.h"

namespace whystop {

/// Takes what the probes of the job's processes write to their rings into the recording,
/// uninterpreted. Bounded: rings of ended processes are let go, and of more rings than kRingsMax at
/// a time the later ones wait. A ring takes 2 MiB: that of a process that has ended is removed as soon as all
/// that was in it stands in the recording's files.
class RingCollector {
 public:
  /// `state` outlives this; another process may have left there how far it had come.
  RingCollector(std::string directory, RunState& state)
      : directory_(std::move(directory)), state_(state) {}

  /// Drains every ring, new ones included.
  void Collect(RunTime now, RecordingWriter& writer);
  /// The run is over and `writer` finished: nobody will read the rings again, where all is written.
  void RemoveAll(const RecordingWriter& writer);
  /// When to come again: soon enough that no ring runs over at the pace seen last.
  std::chrono::milliseconds NextInterval() const { return interval_; }

 private:
  static constexpr std::size_t kRingsMax = 256;

  struct Ring {
    RingReader reader;
    RunState::RingProgress* progress = nullptr;  // nullptr: no room to remember it.
    // Its process was seen under the number that the ring names. Else it lives in another PID
    // namespace (a container inside the job) or was gone before we looked: its end cannot be asked for.
    bool process_seen = false;
    bool quiet = false;  // Nothing new at the last look.
  };

  void FindNew();
  void RemoveDrained(const RecordingWriter& writer);
  void MakeRoom();
  RunState::RingProgress* FindProgress(const RingHeader& header);
  RingReader::Drained Drain(RunTime now, Ring& ring, RecordingWriter& writer);

  std::string directory_;
  RunState& state_;
  std::int64_t folder_changed_ns_ = -1;
  std::map<std::string, Ring> open_;   // By file name.
  std::map<std::string, bool> ended_;  // Seen to their end; never opened again.
  std::vector<std::string> drained_;   // Of those that ended: may be removed.
  std::chrono::milliseconds interval_{250};
};

}  // namespace whystop
