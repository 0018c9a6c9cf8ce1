// Tensor statistics against a plain read of the same memory, interleaved in one run, in CPU time.
// Exits with 1 below the bar: 0.8 of plain read for float32 from memory.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "client/tensor_stats.h"

namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

#if defined(__x86_64__)
#define WS_WIDE __attribute__((target("avx2")))
#else
#define WS_WIDE
#endif
typedef std::uint64_t Wide __attribute__((vector_size(32)));

/// The least that any pass over memory must do.
WS_WIDE std::uint64_t PlainRead(const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  Wide sums[4] = {};
  for (std::size_t i = 0; i + 128 <= bytes; i += 128) {
    for (std::size_t k = 0; k < 4; ++k) {
      Wide loaded;
      std::memcpy(&loaded, at + i + 32 * k, sizeof(loaded));
      sums[k] ^= loaded;
    }
  }
  const Wide all = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  return all[0] ^ all[1] ^ all[2] ^ all[3];
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Line {
  double read_gbs, stats_gbs, ratio;
};

template <typename Scan>
Line Measure(const void* data, std::size_t bytes, const Scan& scan) {
  const std::size_t repeats = std::max<std::size_t>(1, (256UL << 20) / bytes);
  std::vector<double> read, stats, ratio;
  volatile std::uint64_t sink = 0;
  for (int round = 0; round < 9; ++round) {
    const double start = CpuSeconds();
    for (std::size_t i = 0; i < repeats; ++i) {
      sink = sink + PlainRead(data, bytes);
    }
    const double middle = CpuSeconds();
    for (std::size_t i = 0; i < repeats; ++i) {
      scan();
    }
    const double end = CpuSeconds();
    const double moved = static_cast<double>(bytes * repeats) * 1e-9;
    read.push_back(moved / (middle - start));
    stats.push_back(moved / (end - middle));
    ratio.push_back((middle - start) / (end - middle));
  }
  return {Median(read), Median(stats), Median(ratio)};
}

}  // namespace

int main() {
  constexpr std::size_t kValues = 64UL << 20;
  std::vector<float> values(kValues);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.02f);
  for (std::size_t i = 0; i < kValues; ++i) {
    values[i] = i < 4096 ? normal(random) : values[i - 4096 + i % 7];
  }
  std::vector<std::uint16_t> halves(kValues), brain(kValues);
  std::vector<double> doubles(kValues / 2);
  for (std::size_t i = 0; i < kValues; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &values[i], sizeof(bits));
    brain[i] = static_cast<std::uint16_t>(bits >> 16);
    halves[i] = static_cast<std::uint16_t>((bits >> 16 & 0x8000) |
                                           (0x2000 + (bits & 0x7ff)));  // Magnitudes near 2^-7.
    doubles[i / 2] = static_cast<double>(values[i]);
  }
  double from_memory = 0;
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const whystop::StatsKernels* kernels = whystop::StatsKernelsNamed(name);
    if (kernels == nullptr) {
      std::printf("%-9s not on this CPU\n", name);
      continue;
    }
    ws_stats out{};
    for (const std::size_t bytes : {256UL << 20, 32UL << 20, 512UL << 10, 16UL << 10, 1UL << 10}) {
      const Line f32 =
          Measure(values.data(), bytes, [&] { kernels->f32(values.data(), bytes / 4, out); });
      std::printf("%-9s f32  %9zu KiB  read %6.1f GB/s  stats %6.1f GB/s  ratio %.2f\n", name,
                  bytes >> 10, f32.read_gbs, f32.stats_gbs, f32.ratio);
      if (bytes == 256UL << 20) {
        from_memory = f32.ratio;
      }
    }
    const Line f16 =
        Measure(halves.data(), kValues * 2, [&] { kernels->f16(halves.data(), kValues, out); });
    const Line bf16 =
        Measure(brain.data(), kValues * 2, [&] { kernels->bf16(brain.data(), kValues, out); });
    const Line f64 = Measure(doubles.data(), kValues * 4,
                             [&] { kernels->f64(doubles.data(), kValues / 2, out); });
    std::printf("%-9s from memory: f16 %.2f, bf16 %.2f, f64 %.2f of plain read\n", name, f16.ratio,
                bf16.ratio, f64.ratio);
  }
  return from_memory >= 0.8 ? 0 : 1;
}
