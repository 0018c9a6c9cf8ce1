#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/ring_format.h"

namespace whystop {

struct RingWriterOptions {
  const char* directory = nullptr;
  std::uint32_t slot_count = kSlotCountDefault;
  std::int32_t rank = -1;
  std::int32_t local_rank = -1;
  std::int32_t world_size = -1;
  std::uint32_t writer = 1;
  const char* writer_name = "";
};

/// Writes one ring file. Nothing here prints, throws, aborts, takes the heap or waits; after Open
/// nothing makes a system call either, but for the clock (vDSO). Threads may share it: a record
/// that finds the writer busy is dropped and counted. In a forked child every call does nothing.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;
  ~RingWriter() { Close(); }

  /// False: no ring could be made (no directory, no space), and this writer stays silent.
  bool Open(const RingWriterOptions& options);
  void Close();
  /// Open, and in the process that opened it.
  bool alive() const;

  void Step(const StepBody& body, bool last_only);
  void Scalar(std::string_view name, ScalarBody body);
  void Stats(std::string_view name, StatsBody body);
  void Progress(const ProgressBody& body);
  void Phase(std::string_view name);
  /// `body`: an encoded OBSERVATION (observation_encoder.h).
  void Observation(std::string_view body);
  void SetFlags(std::uint32_t bits);
  /// Which of how many this process is, where the environment did not say so when the ring was made.
  void SetRank(std::int32_t rank, std::int32_t world_size);

 private:
  class Turn;
  struct NameSeen {
    std::uint64_t id;
    std::uint64_t announced;  // Sequence number after the name was last written.
  };
  static constexpr std::size_t kNameCacheSize = 4096;

  void Put(SlotKind kind, std::string_view body);
  void PutSlot(SlotKind kind, std::string_view body, std::uint8_t part, std::uint8_t parts);
  std::uint64_t Announce(std::string_view name);
  std::uint64_t* WordsAt(std::size_t offset) const;
  bool MapFile(int fd, std::size_t bytes);
  bool MapMarks();
  void Stamp(const RingWriterOptions& options, std::uint64_t start_ticks);

  unsigned char* map_ = nullptr;
  std::size_t map_bytes_ = 0;
  // A page that the kernel clears in a forked child: the cheapest answer to "am I still the process
  // that opened this?".
  const volatile unsigned char* own_process_ = nullptr;
  bool wiped_on_fork_ = false;
  int pid_ = 0;
  std::uint32_t slot_count_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t last_steps_ = 0;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  // Which names a reader knows. A slot of this table that is taken by another name only costs a
  // repetition.
  NameSeen names_[kNameCacheSize] = {};
};

}  // namespace whystop
