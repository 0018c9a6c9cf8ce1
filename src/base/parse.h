#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace whystop {

/// The number that the whole of `text` spells; "12abc" and "" are no numbers. Reads nan and inf.
template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  T value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

/// Without its fraction. What no whole number can hold is 0: a recording may tell anything.
inline std::int64_t WholeOf(double value) {
  constexpr double kLimit = 9.2e18;
  return value > -kLimit && value < kLimit ? static_cast<std::int64_t>(value) : 0;
}

inline std::string_view Trim(std::string_view text) {
  const auto blank = [](char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
  };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace whystop
