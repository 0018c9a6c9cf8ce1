#include "base/crc32.h"

#include <array>
#include <cstddef>

#include "base/little_endian.h"

namespace whystop {
namespace {

constexpr std::uint32_t kPolynomialReflected = 0xedb88320;
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// Table k gives the effect of a byte that k more bytes follow, so that eight bytes are looked up
// side by side.
constexpr Tables MakeTables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1) != 0 ? (value >> 1) ^ kPolynomialReflected : value >> 1;
    }
    tables[0][i] = value;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[slice - 1][i];
      tables[slice][i] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}
constexpr Tables kTables = MakeTables();

}  // namespace

std::uint32_t Crc32(std::string_view bytes, std::uint32_t seed) {
  std::uint32_t crc = ~seed;
  while (bytes.size() >= kSlices) {
    const std::uint64_t word = LoadLittle<std::uint64_t>(bytes) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < kSlices; ++i) {
      crc ^= kTables[kSlices - 1 - i][(word >> (8 * i)) & 0xff];
    }
    bytes.remove_prefix(kSlices);
  }
  for (const char byte : bytes) {
    crc = kTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

}  // namespace whystop
