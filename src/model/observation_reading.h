#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "model/event.h"

namespace whystop {

// How the generated structs read their members.

inline std::optional<std::string> TextAt(const Observation& from, const char* name) {
  const std::string* text = from.Text(name);
  return text == nullptr ? std::nullopt : std::optional(*text);
}
inline std::optional<double> NumberAt(const Observation& from, const char* name) {
  return from.Number(name);
}
/// A number that no whole number can hold was not known.
inline std::optional<std::int64_t> WholeAt(const Observation& from, const char* name) {
  constexpr double kExactMax = 9e15;
  const auto value = from.Number(name);
  return value && std::abs(*value) < kExactMax
             ? std::optional(static_cast<std::int64_t>(std::llround(*value)))
             : std::nullopt;
}
inline std::optional<bool> YesAt(const Observation& from, const char* name) {
  const auto value = from.Number(name);
  return value ? std::optional(*value != 0) : std::nullopt;
}

}  // namespace whystop
