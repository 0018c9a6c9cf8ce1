#include "report/sparkline.h"

#include <algorithm>
#include <limits>

namespace whystop {

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
  for (const auto& value : values) {
    const double share = high > low && value ? (*value - low) / (high - low) : 0;
    text += value ? kBars[static_cast<std::size_t>(std::clamp(share * 8, 0.0, 7.0))] : "×";
  }
  return text;
}

}  // namespace whystop
