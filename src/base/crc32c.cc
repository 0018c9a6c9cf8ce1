#include "base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace whystop {
namespace {

constexpr std::uint32_t kPolynomialReflected = 0x82f63b78;

constexpr std::array<std::uint32_t, 256> MakeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1) != 0 ? (value >> 1) ^ kPolynomialReflected : value >> 1;
    }
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kTable = MakeTable();

std::uint32_t ByTable(const char* data, std::size_t size, std::uint32_t crc) {
  for (std::size_t i = 0; i < size; ++i) {
    crc = kTable[(crc ^ static_cast<unsigned char>(data[i])) & 0xff] ^ (crc >> 8);
  }
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t ByInstruction(const char* data, std::size_t size,
                                                              std::uint32_t crc) {
  std::uint64_t wide = crc;
  while (size >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, 8);
    wide = _mm_crc32_u64(wide, word);
    data += 8;
    size -= 8;
  }
  auto narrow = static_cast<std::uint32_t>(wide);
  while (size > 0) {
    narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(*data));
    ++data;
    --size;
  }
  return narrow;
}
#endif

}  // namespace

std::uint32_t Crc32c(std::string_view bytes, std::uint32_t seed) {
  const std::uint32_t crc = ~seed;
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) {
    return ~ByInstruction(bytes.data(), bytes.size(), crc);
  }
#endif
  return ~ByTable(bytes.data(), bytes.size(), crc);
}

std::uint32_t MaskCrc32c(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

std::uint32_t MaskedCrc32c(std::string_view bytes) { return MaskCrc32c(Crc32c(bytes)); }

}  // namespace whystop
