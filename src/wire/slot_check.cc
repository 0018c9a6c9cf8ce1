#include "wire/slot_check.h"

#include <array>
#include <cstring>

#include "base/crc32c.h"

namespace whystop {
namespace {

constexpr std::array<std::uint32_t, 256> MakeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1) != 0 ? (value >> 1) ^ 0xedb88320U : value >> 1;
    }
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kTable = MakeTable();

std::string_view BytesOf(const Slot& slot) {
  return {reinterpret_cast<const char*>(&slot), sizeof(slot)};
}

}  // namespace

std::uint32_t Crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

bool SlotIsSound(std::string_view bytes) {
  if (bytes.size() != kSlotBytes) {
    return false;
  }
  Slot slot;
  std::memcpy(&slot, bytes.data(), sizeof(slot));
  const std::uint32_t stored = slot.crc;
  slot.crc = 0;
  const bool by_zlib = (slot.flags & kSlotZlibCrc) != 0;
  return stored == (by_zlib ? Crc32(BytesOf(slot)) : Crc32c(BytesOf(slot)));
}

void SealSlot(Slot& slot) {
  slot.crc = 0;
  slot.crc = Crc32c(BytesOf(slot));
}

}  // namespace whystop
