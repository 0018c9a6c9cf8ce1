#pragma once

#include <cstdint>
#include <string_view>

#include "wire/ring_format.h"

namespace whystop {

/// Whether the 128 bytes are a slot that was written whole. The pure-Python writer's slots carry
/// zlib's CRC-32, as its standard library has no CRC-32C.
bool SlotIsSound(std::string_view bytes);

/// Fills in the checksum of a slot.
void SealSlot(Slot& slot);

}  // namespace whystop
