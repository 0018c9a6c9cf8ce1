#include "client/tensor_stats.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <atomic>
#include <cstring>

namespace whystop {
namespace {

#if defined(__x86_64__)
bool CpuHasF16c() {  // Asked of the CPU itself: clang 14 does not know the name.
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
bool CpuHasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && CpuHasF16c();
}
bool CpuHasAvx512() {
  return CpuHasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

const StatsKernels* ChooseKernels() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (CpuHasAvx512()) {
    return &kStatsAvx512;
  }
  if (CpuHasAvx2()) {
    return &kStatsAvx2;
  }
#endif
  return &kStatsBaseline;
}

}  // namespace

const StatsKernels& BestStatsKernels() {
  static std::atomic<const StatsKernels*> chosen{
      nullptr};  // Threads that race here choose the same.
  const StatsKernels* kernels = chosen.load(std::memory_order_relaxed);
  if (kernels == nullptr) {
    kernels = ChooseKernels();
    chosen.store(kernels, std::memory_order_relaxed);
  }
  return *kernels;
}

const StatsKernels* StatsKernelsNamed(const char* name) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (std::strcmp(name, kStatsAvx512.name) == 0) {
    return CpuHasAvx512() ? &kStatsAvx512 : nullptr;
  }
  if (std::strcmp(name, kStatsAvx2.name) == 0) {
    return CpuHasAvx2() ? &kStatsAvx2 : nullptr;
  }
#endif
  return std::strcmp(name, kStatsBaseline.name) == 0 ? &kStatsBaseline : nullptr;
}

}  // namespace whystop
