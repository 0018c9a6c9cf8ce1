// The kernels as AVX-512 sees them, with lanes of 64 bytes, in whatever instructions this CPU has:
// their logic is tested even where AVX-512 itself cannot run.
#pragma GCC diagnostic ignored \
    "-Wpsabi"  // Vectors are handed between inlined functions of this file only.
#define WS_VECTOR_BYTES 64
#define WS_KERNEL
#define WS_VECTORS_EMULATED
#include "client/stats_kernel.h"
#include "client/stats_kernel_f64.h"

namespace whystop {

extern const StatsKernels kStatsWideEmulated;
const StatsKernels kStatsWideEmulated = {"wide", &StatsOfF32, &StatsOfF64, &StatsOfF16,
                                         &StatsOfBf16};

}  // namespace whystop
