#pragma once

#include <cstddef>
#include <cstdint>

#include "whystop/whystop.h"

namespace whystop {

/// The statistics of one tensor, for one instruction set. All add up from an empty `ws_stats` of
/// their own.
struct StatsKernels {
  const char* name;
  void (*f32)(const float* data, std::size_t count, ws_stats& out);
  void (*f64)(const double* data, std::size_t count, ws_stats& out);
  void (*f16)(const std::uint16_t* data, std::size_t count, ws_stats& out);
  void (*bf16)(const std::uint16_t* data, std::size_t count, ws_stats& out);
};

extern const StatsKernels kStatsBaseline;
#if defined(__x86_64__)
extern const StatsKernels kStatsAvx2;
extern const StatsKernels kStatsAvx512;
#endif

/// The best kernels for this CPU.
const StatsKernels& BestStatsKernels();
/// Those of that name ("baseline", "avx2", "avx512"), or nullptr where the CPU cannot run them. For
/// tests.
const StatsKernels* StatsKernelsNamed(const char* name);

}  // namespace whystop
