#include "symbol/function_at.h"

#include <cxxabi.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "symbol/byte_cursor.h"

namespace whystop {
namespace {

std::string Demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && plain != nullptr ? std::string(plain.get()) : name;
}

std::string_view NameIn(std::string_view symbols, std::string_view names, std::uint64_t address) {
  for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols.data() + at, sizeof(symbol));
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && address >= symbol.st_value && address - symbol.st_value < symbol.st_size) {
      return TextAt(names, symbol.st_name);
    }
  }
  return {};
}

}  // namespace

std::string FunctionAt(const ElfFile& file, std::uint64_t address) {
  std::string_view name = NameIn(file.Section(".symtab"), file.Section(".strtab"), address);
  if (name.empty()) {  // Stripped: what other modules may call is still named.
    name = NameIn(file.Section(".dynsym"), file.Section(".dynstr"), address);
  }
  return name.empty() ? std::string() : Demangled(std::string(name));
}

}  // namespace whystop
