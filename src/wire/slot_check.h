#pragma once

#include <cstdint>
#include <string_view>

#include "wire/ring_format.h"

namespace whystop {

/// zlib's CRC-32, which the pure-Python writer uses because its standard library has no CRC-32C.
std::uint32_t Crc32(std::string_view bytes);

/// Whether the 128 bytes are a slot that was written whole.
bool SlotIsSound(std::string_view bytes);

/// Fills in the checksum of a slot.
void SealSlot(Slot& slot);

}  // namespace whystop
