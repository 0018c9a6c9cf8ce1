#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace whystop {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "whystop's files are little-endian");

/// Loads an integer from the first bytes; the caller has checked that there are enough.
template <typename T>
T LoadLittle(std::string_view bytes) {
  static_assert(std::is_integral_v<T>);
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <typename T>
void AppendLittle(std::string& out, T value) {
  static_assert(std::is_integral_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

}  // namespace whystop
