// place_of FILE ADDRESS: the function and the source line of an address, as addr2line prints them.

#include <cstdio>
#include <cstdlib>

#include "symbol/elf_file.h"
#include "symbol/function_at.h"
#include "symbol/line_at.h"

int main(int count, char** arguments) {
  const auto file = count == 3 ? whystop::ElfFile::Open(arguments[1]) : whystop::Result<whystop::ElfFile>(whystop::Error{});
  if (!file) {
    std::fprintf(stderr, "%s\n", file.error().what.c_str());
    return 2;
  }
  const auto address = std::strtoull(arguments[2], nullptr, 16);
  const auto line = whystop::LineAt(*file, address);
  std::printf("%s\n%s:%lld\n", whystop::FunctionAt(*file, address).c_str(), line ? line->file.c_str() : "??",
              line ? static_cast<long long>(line->line) : 0LL);
  return 0;
}
