#include "text/utf16.h"

#include <cstdint>

namespace whystop {
namespace {

std::uint32_t Unit(std::string_view bytes, std::size_t at, bool big_endian) {
  const auto first = static_cast<unsigned char>(bytes[at]);
  const auto second = static_cast<unsigned char>(bytes[at + 1]);
  return big_endian ? static_cast<std::uint32_t>(first << 8 | second)
                    : static_cast<std::uint32_t>(second << 8 | first);
}

void AppendUtf8(std::uint32_t code, std::string& out) {
  const auto put = [&out](std::uint32_t byte) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace

std::size_t DecodeUtf16(std::string_view bytes, bool big_endian, std::string& out) {
  std::size_t at = 0;
  while (at + 1 < bytes.size()) {
    const std::uint32_t unit = Unit(bytes, at, big_endian);
    const bool high = unit >= 0xD800 && unit < 0xDC00;
    if (high && at + 3 >= bytes.size()) {
      return at;  // The other half is still to come.
    }
    const std::uint32_t next = high ? Unit(bytes, at + 2, big_endian) : 0;
    if (high && next >= 0xDC00 && next < 0xE000) {
      AppendUtf8(0x10000 + ((unit - 0xD800) << 10) + (next - 0xDC00), out);
      at += 4;
    } else {
      AppendUtf8(unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : unit, out);
      at += 2;
    }
  }
  return at;
}

}  // namespace whystop
