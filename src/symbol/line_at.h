#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "symbol/elf_file.h"

namespace whystop {

struct SourceLine {
  std::string file;
  std::int64_t line = 0;
};

/// The line of the source that an address belongs to, by the debug information of a program built with `-g` (DWARF 2 to 5);
/// nullopt: there is none.
std::optional<SourceLine> LineAt(const ElfFile& file, std::uint64_t address);

}  // namespace whystop
