#include "report/sparkline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace whystop {
namespace {

constexpr double kRatioOfPowers = 1000;

}  // namespace

std::string Sparkline(const std::vector<std::optional<double>>& values) {
  constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const auto& value : values) {
    low = std::min(low, value.value_or(low));
    high = std::max(high, value.value_or(high));
  }
  std::string text;
  if (values.size() < 3 || low > high) {
    return text;
  }
  // One spike would press everything else flat: then powers of ten show more.
  const bool powers = low > 0 && high / low > kRatioOfPowers;
  const auto height = [powers](double value) { return powers ? std::log10(value) : value; };
  for (const auto& value : values) {
    const double share =
        high > low && value ? (height(*value) - height(low)) / (height(high) - height(low)) : 0;
    text += value ? kBars[static_cast<std::size_t>(std::clamp(share * 8, 0.0, 7.0))] : "×";
  }
  return text;
}

}  // namespace whystop
