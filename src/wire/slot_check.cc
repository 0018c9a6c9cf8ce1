#include "wire/slot_check.h"

#include <cstring>

#include "base/crc32.h"
#include "base/crc32c.h"

namespace whystop {
namespace {

std::string_view BytesOf(const Slot& slot) {
  return {reinterpret_cast<const char*>(&slot), sizeof(slot)};
}

}  // namespace

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
