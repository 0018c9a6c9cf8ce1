#if defined(__x86_64__)

#include <immintrin.h>

#define WS_VECTOR_BYTES 32
#define WS_KERNEL __attribute__((target("avx2,fma,f16c")))
#define WS_HALF_TO_FLOAT(from, to) \
  _mm256_storeu_ps((to), _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))))
#include "client/stats_kernel.h"
#include "client/stats_kernel_f64.h"

namespace whystop {

const StatsKernels kStatsAvx2 = {"avx2", &StatsOfF32, &StatsOfF64, &StatsOfF16, &StatsOfBf16};

}  // namespace whystop

#endif
