#include "sense/proc_text.h"

namespace whystop {

std::optional<std::int64_t> ParseDecimal(std::string_view text, int decimals) {
  const auto point = text.find('.');
  std::optional<std::int64_t> value = ParseWhole<std::int64_t>(text.substr(0, point));
  std::string_view fraction =
      point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  for (int place = 0; place < decimals; ++place) {
    value = Scaled(value, 10);
    if (!value || fraction.empty()) {
      continue;
    }
    const char digit = fraction.front();
    fraction.remove_prefix(1);
    if (digit < '0' || digit > '9' || __builtin_add_overflow(*value, digit - '0', &*value)) {
      return std::nullopt;
    }
  }
  return value;
}

}  // namespace whystop
