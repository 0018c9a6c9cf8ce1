// The double-precision half of stats_kernel.h, included after it and under the same conditions.

namespace whystop {
namespace {

WS_KERNEL void StatsOfF64(const double* data, size_t count, ws_stats& out) {
  constexpr int64_t kWideInfinityBits = 0x7ff0000000000000;
  constexpr int64_t kWideMagnitudeMask = 0x7fffffffffffffff;
  WideVector sum = {}, sum_squares = {};
  WideVector min = WideVector{} + __builtin_inf(), max = -min;
  const WideVector never_min = min, never_max = max;
  WideIntVector nan = {}, inf = {}, zero = {}, below[6] = {};
  size_t at = 0;
  for (; at + kWideLanes <= count; at += kWideLanes) {
    const WideVector value = Load<WideVector>(data + at);
    const WideIntVector bits = reinterpret_cast<WideIntVector>(value) & kWideMagnitudeMask;
    const WideIntVector finite = bits < kWideInfinityBits;
    const WideVector magnitude = reinterpret_cast<WideVector>(bits);
    nan -= bits > kWideInfinityBits;
    inf -= bits == kWideInfinityBits;
    zero -= bits == 0;
    for (int i = 0; i < 6; ++i) {
      below[i] -= magnitude < kThresholds[i];
    }
    const WideVector for_min = finite ? value : never_min;
    const WideVector for_max = finite ? value : never_max;
    min = for_min < min ? for_min : min;
    max = for_max > max ? for_max : max;
    const WideVector kept =
        reinterpret_cast<WideVector>(reinterpret_cast<WideIntVector>(value) & finite);
    sum += kept;
    sum_squares += kept * kept;
  }
  Totals totals;
  for (size_t lane = 0; lane < kWideLanes; ++lane) {
    totals.nan_count += static_cast<uint64_t>(nan[lane]);
    totals.inf_count += static_cast<uint64_t>(inf[lane]);
    totals.zero_count += static_cast<uint64_t>(zero[lane]);
    for (int i = 0; i < 6; ++i) {
      totals.below[i] += static_cast<uint64_t>(below[i][lane]);
    }
    totals.min = min[lane] < totals.min ? min[lane] : totals.min;
    totals.max = max[lane] > totals.max ? max[lane] : totals.max;
    totals.sum += sum[lane];
    totals.sum_squares += sum_squares[lane];
  }
  for (; at < count; ++at) {
    TakeValue(data[at], totals);
  }
  Report(totals, count, out);
}

}  // namespace
}  // namespace whystop
