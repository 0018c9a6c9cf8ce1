#pragma once

#include <cstdint>
#include <string_view>

namespace whystop {

/// CRC-32C (Castagnoli), by the CPU's instruction where there is one, else by table.
/// `seed` is the checksum of what came before, 0 at the start.
std::uint32_t Crc32c(std::string_view bytes, std::uint32_t seed = 0);

/// The masked form that TFRecord frames store, so that a checksum of checksums is not trivial.
std::uint32_t MaskCrc32c(std::uint32_t crc);
std::uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace whystop
