#if defined(__x86_64__)

#include <immintrin.h>

#define WS_VECTOR_BYTES 64
#define WS_KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#define WS_HALF_TO_FLOAT(from, to)              \
  _mm512_storeu_ps((to), _mm512_maskz_cvtph_ps( \
                             0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))))
#include "client/stats_kernel.h"
#include "client/stats_kernel_f64.h"

namespace whystop {

const StatsKernels kStatsAvx512 = {"avx512", &StatsOfF32, &StatsOfF64, &StatsOfF16, &StatsOfBf16};

}  // namespace whystop

#endif
