#pragma once

#include <cstdint>
#include <string_view>

namespace whystop {

/// CRC-32 as zlib, gzip and Python's binascii compute it. `seed` is the checksum of what came
/// before, 0 at the start.
std::uint32_t Crc32(std::string_view bytes, std::uint32_t seed = 0);

}  // namespace whystop
