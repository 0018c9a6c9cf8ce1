#define WS_VECTOR_BYTES 16
#define WS_KERNEL
#include "client/stats_kernel.h"
#include "client/stats_kernel_f64.h"

namespace whystop {

const StatsKernels kStatsBaseline = {"baseline", &StatsOfF32, &StatsOfF64, &StatsOfF16,
                                     &StatsOfBf16};

}  // namespace whystop
