#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/parse.h"

namespace whystop {

/// Takes the first line off `text`, without its newline.
inline std::string_view TakeLine(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Takes the next field off `text`; fields are parted by blanks and tabs. Empty: there is none.
inline std::string_view TakeField(std::string_view& text) {
  constexpr std::string_view kBlank = " \t";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    text = {};
    return {};
  }
  const auto end = text.find_first_of(kBlank, first);
  const std::string_view field =
      text.substr(first, end == std::string_view::npos ? end : end - first);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  return field;
}

inline std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  return ParseWhole<std::int64_t>(TakeField(text));
}

/// `value` times `factor`; absent when there is no value, it is negative, or it would not fit.
inline std::optional<std::int64_t> Scaled(std::optional<std::int64_t> value, std::int64_t factor) {
  std::int64_t product = 0;
  if (!value || *value < 0 || __builtin_mul_overflow(*value, factor, &product)) {
    return std::nullopt;
  }
  return product;
}

inline std::int64_t SaturatingSum(std::int64_t left, std::int64_t right) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(left, right, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

/// "12.34" as 1234 for two decimals; what lies beyond them is cut off.
std::optional<std::int64_t> ParseDecimal(std::string_view text, int decimals);

}  // namespace whystop
