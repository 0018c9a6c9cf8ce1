#pragma once

#include <cstdint>
#include <string>

#include "symbol/elf_file.h"

namespace whystop {

/// The function that holds an address, by the file's table of symbols, as its author wrote it ("Network::Backward(float)");
/// empty: the table does not say.
std::string FunctionAt(const ElfFile& file, std::uint64_t address);

}  // namespace whystop
