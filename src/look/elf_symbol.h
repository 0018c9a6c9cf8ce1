#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace whystop {

/// Where a symbol of an ELF file lies in memory, relative to the address at which the file's first
/// byte is mapped. Nullopt: no such symbol, or no 64-bit ELF file. Reads a few pages of the file,
/// never all of it, and believes none of its numbers.
std::optional<std::uint64_t> FindElfSymbol(const std::string& path, const std::string& symbol);

}  // namespace whystop
