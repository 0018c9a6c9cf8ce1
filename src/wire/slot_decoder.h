#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/event.h"
#include "wire/ring_format.h"

namespace whystop {

/// Turns the slots of the job's rings into events, as docs/wire.md says. One decoder serves a whole
/// run: it keeps the names, the rank and an unfinished record per process, all bounded. Slots may
/// come in pieces of any number; bytes that are no slots are skipped and counted, whatever they
/// hold.
class SlotDecoder {
 public:
  /// `at`: the run time at which the supervisor took these slots. No event is later than that.
  void Feed(std::int64_t pid, RunTime at, std::string_view slots, EventSink& out);

 private:
  struct Process {
    std::unordered_map<std::uint64_t, std::string> names;
    std::optional<int> rank;
    std::int64_t pid = 0;
    std::optional<int> training;
    // A record of several slots, as far as it has come.
    std::string body;
    std::uint8_t kind = 0;
    std::uint8_t parts = 0;
    std::uint8_t parts_come = 0;
    std::uint64_t next_sequence = 0;
  };
  struct Record;

  void TakeSlot(Process& process, RunTime at, const Slot& slot, EventSink& out);
  void TakeRecord(Process& process, const Record& record, EventSink& out);
  void TakeStep(const Process& process, const Record& record, EventSink& out) const;
  void TakeScalar(const Process& process, const Record& record, EventSink& out) const;
  void TakeStats(const Process& process, const Record& record, EventSink& out) const;
  RunTime TimeOf(std::uint64_t slot_ns, RunTime at) const;

  std::map<std::int64_t, Process> processes_;
  std::optional<std::int64_t>
      run_start_ns_;  // CLOCK_MONOTONIC at run time zero, from the first HELLO.
};

}  // namespace whystop
