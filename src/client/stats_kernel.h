// Included once for each instruction set, by a source that has defined WS_VECTOR_BYTES, WS_KERNEL
// (a function attribute) and, where the CPU converts 16-bit floats itself, WS_HALF_TO_FLOAT.
// Everything here is local to that source, and nothing of the standard library is called: a shared
// inline function would be compiled for one CPU and run on another.
//
// Speed: a block of 4 KiB is read from memory once; float lanes take 16 values each before they are
// added up in double. A block with a value that is not finite, or so large or small that its square
// leaves the range of float, is done again in double while it is still in the cache.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "client/tensor_stats.h"

namespace whystop {
namespace {

constexpr size_t kLanes = WS_VECTOR_BYTES / 4;
constexpr size_t kWideLanes = WS_VECTOR_BYTES / 8;
constexpr size_t kBlockValues = 1024;
constexpr size_t kCacheLineBytes = 64;
constexpr size_t kAheadBytes = 8192;
constexpr size_t kRunVectors = 16;  // Vectors that are added in float before they go to double.
constexpr size_t kRunValues = kRunVectors * kLanes;
static_assert(kBlockValues % kRunValues == 0);

typedef float FloatVector __attribute__((vector_size(WS_VECTOR_BYTES)));
typedef int32_t IntVector __attribute__((vector_size(WS_VECTOR_BYTES)));
typedef float HalfVector __attribute__((vector_size(WS_VECTOR_BYTES / 2)));
typedef double WideVector __attribute__((vector_size(WS_VECTOR_BYTES)));
typedef int64_t WideIntVector __attribute__((vector_size(WS_VECTOR_BYTES)));

#define WS_INLINE static inline __attribute__((always_inline)) WS_KERNEL

constexpr int32_t kInfinityBits = 0x7f800000;
constexpr int32_t kMagnitudeMask = 0x7fffffff;
constexpr int32_t kSquareFitsMin =
    0x2b800000;  // 2^-40: smaller squares would vanish beside each other in float.
constexpr int32_t kSquareFitsMax = 0x5d800000;  // 2^60: sixteen larger squares could overflow.
constexpr int32_t kThresholdBits[6] = {0x33800000, 0x38800000, 0x3c000000,
                                       0x3f7e0000, 0x40000000, 0x477ff000};
constexpr double kThresholds[6] = {0x1p-24, 0x1p-14, 0x1p-7, 0.9921875, 2.0, 65520.0};
constexpr int kLowThresholds =
    4;  // Counted in the fast pass; the others are seldom reached and looked at apart.

/// The running result of one tensor.
struct Totals {
  uint64_t nan_count = 0, inf_count = 0, zero_count = 0;
  uint64_t below[6] = {};
  double min = __builtin_inf();
  double max = -__builtin_inf();
  double sum = 0, sum_squares = 0;
};

WS_INLINE void TakeValue(double value, Totals& totals) {
  const double magnitude = __builtin_fabs(value);
  if (!(magnitude <= __DBL_MAX__)) {
    (magnitude != magnitude ? totals.nan_count : totals.inf_count) += 1;
    return;
  }
  totals.zero_count += magnitude == 0 ? 1 : 0;
  totals.min = value < totals.min ? value : totals.min;
  totals.max = value > totals.max ? value : totals.max;
  totals.sum += value;
  totals.sum_squares += value * value;
  for (int i = 0; i < 6; ++i) {
    totals.below[i] += magnitude < kThresholds[i] ? 1 : 0;
  }
}

template <typename Vector>
WS_INLINE Vector Load(const void* from) {
  Vector loaded;
  memcpy(&loaded, from, sizeof(loaded));
  return loaded;
}

/// May point behind the end of the tensor, even to no memory at all: a prefetch does not fault.
/// Hence no pointer arithmetic, which would be undefined there.
WS_INLINE const char* Ahead(const void* data) {
  return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(data) + kAheadBytes);
}

WS_INLINE uint64_t CountLanes(const IntVector& counts) {
  uint64_t sum = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    sum += static_cast<uint32_t>(counts[lane]);
  }
  return sum;
}

WS_INLINE WideVector Widen(const FloatVector& from, size_t half) {
  HalfVector part;
  memcpy(&part, reinterpret_cast<const char*>(&from) + half * sizeof(part), sizeof(part));
  return __builtin_convertvector(part, WideVector);
}

/// The thresholds, one a lane. The compiler must not know them: it would turn "bits < 8" into two
/// instructions.
WS_INLINE IntVector Opaque(int32_t value) {
  IntVector lanes = IntVector{} + value;
#if defined(__x86_64__) && !defined(WS_VECTORS_EMULATED)
  asm("" : "+x"(lanes));
#endif
  return lanes;
}

/// A block in double, value by value. Only blocks with unusual values come here.
WS_KERNEL __attribute__((noinline)) void TakeBlockExactly(const float* data, size_t count,
                                                          Totals& totals) {
  WideVector sum = {}, sum_squares = {};
  IntVector nan = {}, inf = {}, zero = {}, below[6] = {};
  FloatVector min = FloatVector{} + __builtin_inff(), max = -min;
  const FloatVector never_min = min, never_max = max;
  size_t at = 0;
  for (; at + kLanes <= count; at += kLanes) {
    const FloatVector value = Load<FloatVector>(data + at);
    const IntVector bits = reinterpret_cast<IntVector>(value) & kMagnitudeMask;
    const IntVector finite = bits < kInfinityBits;
    nan -= bits > kInfinityBits;
    inf -= bits == kInfinityBits;
    zero -= bits == 0;
    for (int i = 0; i < 6; ++i) {
      below[i] -= bits < kThresholdBits[i];
    }
    const FloatVector for_min = finite ? value : never_min;
    const FloatVector for_max = finite ? value : never_max;
    min = for_min < min ? for_min : min;
    max = for_max > max ? for_max : max;
    const FloatVector kept =
        reinterpret_cast<FloatVector>(reinterpret_cast<IntVector>(value) & finite);
    const WideVector low = Widen(kept, 0), high = Widen(kept, 1);
    sum += low + high;
    sum_squares += low * low + high * high;
  }
  totals.nan_count += CountLanes(nan);
  totals.inf_count += CountLanes(inf);
  totals.zero_count += CountLanes(zero);
  for (int i = 0; i < 6; ++i) {
    totals.below[i] += CountLanes(below[i]);
  }
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const double lane_min = static_cast<double>(min[lane]),
                 lane_max = static_cast<double>(max[lane]);
    totals.min = lane_min < totals.min ? lane_min : totals.min;
    totals.max = lane_max > totals.max ? lane_max : totals.max;
  }
  for (size_t lane = 0; lane < kWideLanes; ++lane) {
    totals.sum += sum[lane];
    totals.sum_squares += sum_squares[lane];
  }
  for (; at < count; ++at) {
    TakeValue(static_cast<double>(data[at]), totals);
  }
}

/// What one tensor's ordinary blocks have added up to, lane by lane.
struct LaneTotals {
  FloatVector min, max;
  WideVector sum, sum_squares;
  IntVector zero, below[kLowThresholds];
  uint64_t below_high[2];
  uint64_t blocks;
};

WS_INLINE void CountHigh(const float* data, int32_t magnitude_max, LaneTotals& lanes) {
  for (int i = 0; i < 2; ++i) {
    const int32_t threshold = kThresholdBits[kLowThresholds + i];
    if (magnitude_max < threshold) {
      lanes.below_high[i] += kBlockValues;
      continue;
    }
    IntVector below = {};
    for (size_t at = 0; at < kBlockValues; at += kLanes) {
      below -= (Load<IntVector>(data + at) & kMagnitudeMask) < threshold;
    }
    lanes.below_high[i] += CountLanes(below);
  }
}

/// One full block. `ahead` is where the memory of a later block begins: asking for it now is worth
/// a fifth of the speed from memory (bench/stats_bench.cc). False: the block holds unusual values,
/// and nothing was added.
template <size_t kBytesPerValue>
WS_INLINE bool TakeBlock(const float* data, const char* ahead, LaneTotals& lanes) {
  FloatVector min = lanes.min, max = lanes.max;
  WideVector sum = lanes.sum, sum_squares = lanes.sum_squares;
  const IntVector threshold0 = Opaque(kThresholdBits[0]), threshold1 = Opaque(kThresholdBits[1]),
                  threshold2 = Opaque(kThresholdBits[2]), threshold3 = Opaque(kThresholdBits[3]);
  IntVector magnitude_max = {};
  IntVector zero = lanes.zero, below0 = lanes.below[0], below1 = lanes.below[1],
            below2 = lanes.below[2], below3 = lanes.below[3];
  for (size_t run = 0; run < kBlockValues; run += kRunValues) {
    for (size_t line = 0; line < kRunValues * kBytesPerValue; line += kCacheLineBytes) {
      __builtin_prefetch(ahead + run * kBytesPerValue + line);
    }
    FloatVector run_sum = {}, run_squares = {};
    for (size_t at = run; at < run + kRunValues; at += kLanes) {
      const FloatVector value = Load<FloatVector>(data + at);
      const IntVector bits = reinterpret_cast<IntVector>(value) & kMagnitudeMask;
      magnitude_max = bits > magnitude_max ? bits : magnitude_max;
      min = value < min ? value : min;
      max = value > max ? value : max;
      run_sum += value;
      run_squares += value * value;
      zero -= bits == 0;
      below0 -= threshold0 > bits;
      below1 -= threshold1 > bits;
      below2 -= threshold2 > bits;
      below3 -= threshold3 > bits;
    }
    sum += Widen(run_sum, 0) + Widen(run_sum, 1);
    sum_squares += Widen(run_squares, 0) + Widen(run_squares, 1);
  }
  int32_t block_max = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    block_max = magnitude_max[lane] > block_max ? magnitude_max[lane] : block_max;
  }
  if (block_max >= kSquareFitsMax || (block_max < kSquareFitsMin && block_max != 0)) {
    return false;
  }
  lanes.min = min;
  lanes.max = max;
  lanes.sum = sum;
  lanes.sum_squares = sum_squares;
  lanes.zero = zero;
  lanes.below[0] = below0;
  lanes.below[1] = below1;
  lanes.below[2] = below2;
  lanes.below[3] = below3;
  CountHigh(data, block_max, lanes);
  return true;
}

WS_INLINE void ClearLanes(LaneTotals& lanes) {
  memset(&lanes, 0, sizeof(lanes));
  lanes.min += __builtin_inff();
  lanes.max -= __builtin_inff();
}

WS_INLINE void FlushLanes(LaneTotals& lanes, Totals& totals) {
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const double min = static_cast<double>(lanes.min[lane]),
                 max = static_cast<double>(lanes.max[lane]);
    totals.min = min < totals.min ? min : totals.min;
    totals.max = max > totals.max ? max : totals.max;
  }
  for (size_t lane = 0; lane < kWideLanes; ++lane) {
    totals.sum += lanes.sum[lane];
    totals.sum_squares += lanes.sum_squares[lane];
  }
  totals.zero_count += CountLanes(lanes.zero);
  for (int i = 0; i < kLowThresholds; ++i) {
    totals.below[i] += CountLanes(lanes.below[i]);
  }
  totals.below[4] += lanes.below_high[0];
  totals.below[5] += lanes.below_high[1];
  ClearLanes(lanes);
}

template <size_t kBytesPerValue>
WS_INLINE void TakeFullBlock(const float* data, const char* ahead, LaneTotals& lanes,
                             Totals& totals) {
  if (!TakeBlock<kBytesPerValue>(data, ahead, lanes)) {
    TakeBlockExactly(data, kBlockValues, totals);
  }
  // Long before a 32-bit lane could run over.
  constexpr uint64_t kBlocksPerFlush = 1 << 20;
  if (++lanes.blocks == kBlocksPerFlush) {
    FlushLanes(lanes, totals);
  }
}

WS_INLINE void Report(const Totals& totals, size_t count, ws_stats& out) {
  out.count = count;
  out.nan_count = totals.nan_count;
  out.inf_count = totals.inf_count;
  out.zero_count = totals.zero_count;
  const bool any_finite = totals.min <= totals.max;
  out.min = any_finite ? totals.min : 0;
  out.max = any_finite ? totals.max : 0;
  out.sum = totals.sum;
  out.sum_squares = totals.sum_squares;
  out.abs_max = -out.min > out.max ? -out.min : (out.max < 0 ? -out.max : out.max);
  for (int i = 0; i < 6; ++i) {
    out.below[i] = totals.below[i];
  }
}

WS_KERNEL void StatsOfF32(const float* data, size_t count, ws_stats& out) {
  Totals totals;
  LaneTotals lanes;
  ClearLanes(lanes);
  size_t at = 0;
  for (; at + kBlockValues <= count; at += kBlockValues) {
    TakeFullBlock<4>(data + at, Ahead(data + at), lanes, totals);
  }
  FlushLanes(lanes, totals);
  TakeBlockExactly(data + at, count - at, totals);
  Report(totals, count, out);
}

WS_INLINE float HalfToFloat(uint16_t half) {
  // The exponent's bias differs by 112; multiplying also normalises the subnormal ones.
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fff) << 13;
  float scaled;
  memcpy(&scaled, &magnitude, sizeof(scaled));
  scaled *= 0x1p112f;
  uint32_t bits;
  memcpy(&bits, &scaled, sizeof(bits));
  if ((half & 0x7c00) == 0x7c00) {
    bits = magnitude | 0x7f800000;
  }
  bits |= static_cast<uint32_t>(half & 0x8000) << 16;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

WS_INLINE void WidenHalves(const uint16_t* from, size_t count, float* to) {
#ifdef WS_HALF_TO_FLOAT
  const size_t whole = count - count % kLanes;
  for (size_t at = 0; at < whole; at += kLanes) {
    WS_HALF_TO_FLOAT(from + at, to + at);
  }
#else
  const size_t whole = 0;
#endif
  for (size_t at = whole; at < count; ++at) {
    to[at] = HalfToFloat(from[at]);
  }
}

WS_INLINE void WidenBrainFloats(const uint16_t* from, size_t count, float* to) {
  for (size_t at = 0; at < count; ++at) {
    const uint32_t bits = static_cast<uint32_t>(from[at]) << 16;
    memcpy(to + at, &bits, sizeof(bits));
  }
}

/// 16-bit values, a block at a time through a buffer that stays in the first cache.
#define WS_DEFINE_SIXTEEN_BIT(Name, widen)                                 \
  WS_KERNEL void Name(const uint16_t* data, size_t count, ws_stats& out) { \
    alignas(64) float block[kBlockValues];                                 \
    Totals totals;                                                         \
    LaneTotals lanes;                                                      \
    ClearLanes(lanes);                                                     \
    size_t at = 0;                                                         \
    for (; at + kBlockValues <= count; at += kBlockValues) {               \
      widen(data + at, kBlockValues, block);                               \
      TakeFullBlock<2>(block, Ahead(data + at), lanes, totals);            \
    }                                                                      \
    FlushLanes(lanes, totals);                                             \
    widen(data + at, count % kBlockValues, block);                         \
    TakeBlockExactly(block, count % kBlockValues, totals);                 \
    Report(totals, count, out);                                            \
  }
WS_DEFINE_SIXTEEN_BIT(StatsOfF16, WidenHalves)
WS_DEFINE_SIXTEEN_BIT(StatsOfBf16, WidenBrainFloats)
#undef WS_DEFINE_SIXTEEN_BIT

}  // namespace
}  // namespace whystop
