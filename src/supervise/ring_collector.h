#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "record/recording_writer.h"
#include "supervise/run_state.h"
#include "wire/ring_reader.h"

namespace whystop {

/// Takes what the probes of the job's processes write to their rings into the recording,
/// uninterpreted. Bounded: rings of ended processes are let go, and of more living processes than kRingsMax
/// the later ones wait. A ring takes 2 MiB: that of a process that has ended is removed as soon as all that
/// was in it stands in the recording's files.
class RingCollector {
 public:
  /// `state` outlives this; another process may have left there how far it had come.
  RingCollector(std::string directory, RunState& state);

  /// Drains every ring, new ones included.
  void Collect(RunTime now, RecordingWriter& writer);
  /// The run is over and `writer` finished: nobody will read the rings again, where all is written. The files that
  /// processes made for their stacks go as well, where nothing was written to them.
  void RemoveAll(const RecordingWriter& writer);
  /// When to come again: soon enough that no ring runs over at the pace seen last.
  std::chrono::milliseconds NextInterval() const { return interval_; }

 private:
  static constexpr std::size_t kRingsMax = 256;

  struct Ring {
    RingReader reader;
    RunState::RingProgress* progress = nullptr;  // nullptr: no room to remember it yet.
    std::uint64_t taken = 0;                     // The last sequence number on record.
    // Its process counts in our PID namespace. One in another (a container inside the job) cannot be asked for.
    bool end_can_be_seen = false;
    std::int64_t lost_before = 0;  // Of probes, before the first look.
    bool quiet = false;            // Nothing new at the last look.
  };

  /// A ring that ended and was taken to its end.
  struct Drained {
    std::string name;
    RunState::RingProgress* progress;
    std::int64_t lost_before;
  };

  void FindNew();
  /// Takes what is new of every open ring; whether some of them ended.
  bool DrainAll(RunTime now, RecordingWriter& writer);
  void RemoveDrained(const RecordingWriter& writer);
  void RemoveEmptyStacks();
  void MakeRoom();
  RunState::RingProgress* FindProgress(const RingHeader& header);
  RingReader::Drained Drain(RunTime now, Ring& ring, RecordingWriter& writer);

  std::string directory_;
  RunState& state_;
  const std::uint32_t pid_namespace_;
  std::int64_t folder_changed_ns_ = -1;
  std::map<std::string, Ring> open_;   // By file name.
  std::set<std::string> ended_;        // Seen to their end; never opened again.
  std::set<std::string> unready_;      // Without a header when we last looked.
  std::vector<Drained> drained_;       // Of those that ended: may be removed.
  std::int64_t lost_ = 0;              // Of probes, as the writer last said.
  bool others_wait_ = false;           // For one of kRingsMax places.
  double fullest_ = 0;                 // Of the rings drained in this round.
  std::chrono::milliseconds interval_{250};
};

}  // namespace whystop
