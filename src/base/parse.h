#pragma once

#include <charconv>
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

inline std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace whystop
