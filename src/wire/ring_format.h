#pragma once

#include <cstddef>
#include <cstdint>

/// The bytes of a ring file, shared by its writer and its reader. docs/wire.md is the
/// specification. This header needs neither the heap nor the standard library's objects: the client
/// library is built on it.
namespace whystop {

inline constexpr char kRingMagic[9] = "WSRING1\n";
inline constexpr std::uint32_t kRingVersion = 1;
inline constexpr std::size_t kRingHeaderBytes = 4096;
inline constexpr std::size_t kSlotBytes = 128;
inline constexpr std::size_t kSlotBodyBytes = 104;
inline constexpr std::uint32_t kSlotCountMin = 64;
inline constexpr std::uint32_t kSlotCountMax = 65536;
inline constexpr std::uint32_t kSlotCountDefault = 16384;
inline constexpr std::size_t kPartsMax = 160;
inline constexpr std::size_t kNameBytesMax = 256;
inline constexpr std::size_t kPhaseBytesMax = 64;
inline constexpr std::size_t kAttributesMax = 64;
inline constexpr int kRingsPerProcessMax = 8;

enum class SlotKind : std::uint8_t {
  kName = 1,
  kStep = 2,
  kScalar = 3,
  kStats = 4,
  kObservation = 5,
  kPhase = 6,
  kProgress = 7,
  kHello = 32,  // Made by the reader, like kGap.
  kGap = 33,
};

inline constexpr std::uint8_t kSlotZlibCrc = 1;   // The checksum is CRC-32 and not CRC-32C.
inline constexpr std::uint8_t kSlotLastOnly = 2;  // Stands in the header's STEP area alone.

inline constexpr std::uint32_t kRingClosed = 1;
inline constexpr std::uint32_t kRingProbe = 2;
inline constexpr std::uint32_t kRingFramework = 4;

struct RingHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t slot_count;
  std::int64_t pid;
  std::uint64_t start_ticks;
  std::uint64_t created_ns;
  std::int32_t rank;
  std::int32_t local_rank;
  std::int32_t world_size;
  std::uint32_t writer;
  std::uint32_t flags;
  std::uint32_t pid_namespace;  // In which `pid` counts; 0: not known.
  char writer_name[64];
  std::uint64_t head;
  std::uint64_t dropped;
};
inline constexpr std::size_t kHeadOffset = 128;
inline constexpr std::size_t kDroppedOffset = 136;
inline constexpr std::size_t kRankOffset = 40;  // Rank, local rank, world size.
inline constexpr std::size_t kFlagsOffset = 56;
inline constexpr std::size_t kLastStepOffset = 256;  // Two slots, written in turn.
static_assert(offsetof(RingHeader, rank) == kRankOffset);
static_assert(offsetof(RingHeader, flags) == kFlagsOffset);
static_assert(offsetof(RingHeader, head) == kHeadOffset);
static_assert(offsetof(RingHeader, dropped) == kDroppedOffset);

struct Slot {
  std::uint64_t sequence;
  std::uint32_t crc;
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint8_t part;
  std::uint8_t parts;
  std::uint64_t at_ns;
  unsigned char body[kSlotBodyBytes];
};
static_assert(sizeof(Slot) == kSlotBytes);

struct StepBody {
  static constexpr std::uint32_t kLoss = 1, kLr = 2, kWait = 4,
                                 kDuration = 8;  // Bits of `present`.
  static constexpr std::uint32_t kSkipped = 1;   // Of `flags`.
  std::int64_t step;
  double loss;
  double lr;
  double wait_s;
  double duration_s;
  std::uint32_t flags;
  std::uint32_t present;
};
static_assert(sizeof(StepBody) == 48);

struct ScalarBody {
  std::uint64_t name;
  std::int64_t step;
  double value;
  std::uint8_t role;
  std::uint8_t present;  // 1: step.
  std::uint8_t zero[6];
};
static_assert(sizeof(ScalarBody) == 32);

inline constexpr std::size_t kThresholdCount = 6;

struct StatsBody {
  std::uint64_t name;
  std::int64_t step;
  std::uint8_t what;
  std::uint8_t zero[7];
  std::uint64_t count, nan_count, inf_count, zero_count;
  double min, max, sum, sum_squares, abs_max;
  std::uint64_t below[kThresholdCount];
};
static_assert(sizeof(StatsBody) == 144);

struct ProgressBody {
  static constexpr std::uint32_t kEpoch = 1, kEpochs = 2, kStep = 4,
                                 kSteps = 8;  // Bits of `present`.
  double epoch;
  double epochs_planned;
  std::int64_t step;
  std::int64_t steps_planned;
  std::uint32_t present;
  std::uint32_t zero;
};
static_assert(sizeof(ProgressBody) == 40);

struct HelloBody {
  std::int64_t pid;
  std::uint64_t start_ticks;
  std::int32_t rank, local_rank, world_size;
  std::uint32_t writer;
  std::uint32_t flags;
  std::uint32_t zero;
};
static_assert(sizeof(HelloBody) == 40);

struct GapBody {
  std::uint64_t overwritten, damaged, dropped;
};

}  // namespace whystop
