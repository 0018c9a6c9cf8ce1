#include "look/elf_symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <span>

#include "base/fd.h"

namespace whystop {
namespace {

/// A file in memory, read only. Anything asked for beyond its end is absent.
class MappedBytes {
 public:
  static std::optional<MappedBytes> Open(const std::string& path) {
    auto fd = OpenFd(path, O_RDONLY);
    struct stat facts {};
    if (!fd || ::fstat(fd->get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size <= 0) {
      return std::nullopt;
    }
    void* memory = ::mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ, MAP_PRIVATE,
                          fd->get(), 0);
    if (memory == MAP_FAILED) {
      return std::nullopt;
    }
    return MappedBytes(static_cast<const char*>(memory), static_cast<std::size_t>(facts.st_size));
  }
  MappedBytes(MappedBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedBytes& operator=(MappedBytes&&) = delete;
  ~MappedBytes() {
    if (!bytes_.empty()) {
      ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    }
  }

  template <typename T>
  std::optional<T> At(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      return std::nullopt;
    }
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  bool TextIs(std::uint64_t offset, const std::string& text) const {
    return offset < bytes_.size() && bytes_.size() - offset > text.size() &&
           std::memcmp(bytes_.data() + offset, text.c_str(), text.size() + 1) == 0;
  }

 private:
  MappedBytes(const char* data, std::size_t size) : bytes_(data, size) {}
  std::span<const char> bytes_;
};

/// The value of the symbol in one symbol table.
std::optional<std::uint64_t> FindInTable(const MappedBytes& file, const Elf64_Shdr& table,
                                         const Elf64_Shdr& names, const std::string& symbol) {
  constexpr std::uint64_t kSymbolsMax = 4 << 20;
  const std::uint64_t count = std::min<std::uint64_t>(table.sh_size / sizeof(Elf64_Sym), kSymbolsMax);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto one = file.At<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym));
    if (!one) {
      return std::nullopt;
    }
    if (one->st_value != 0 && one->st_shndx != SHN_UNDEF &&
        file.TextIs(names.sh_offset + one->st_name, symbol)) {
      return one->st_value;
    }
  }
  return std::nullopt;
}

/// The address that the file's own numbers give to its first byte.
std::optional<std::uint64_t> BaseOf(const MappedBytes& file, const Elf64_Ehdr& header) {
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto part = file.At<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!part) {
      return std::nullopt;
    }
    if (part->p_type == PT_LOAD) {
      return part->p_vaddr - part->p_offset;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> FindElfSymbol(const std::string& path, const std::string& symbol) {
  const auto file = MappedBytes::Open(path);
  const auto header = file ? file->At<Elf64_Ehdr>(0) : std::nullopt;
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return std::nullopt;
  }
  const auto base = BaseOf(*file, *header);
  const auto section = [&](std::uint64_t index) {
    return index < header->e_shnum
               ? file->At<Elf64_Shdr>(header->e_shoff + index * sizeof(Elf64_Shdr))
               : std::nullopt;
  };
  // The dynamic table is short and has what other modules may use; a static build has the other.
  for (const std::uint32_t type : {std::uint32_t{SHT_DYNSYM}, std::uint32_t{SHT_SYMTAB}}) {
    for (std::uint64_t i = 0; base && i < header->e_shnum; ++i) {
      const auto table = section(i);
      const auto names = table && table->sh_type == type ? section(table->sh_link) : std::nullopt;
      const auto value = names ? FindInTable(*file, *table, *names, symbol) : std::nullopt;
      if (value) {
        return *value - *base;
      }
    }
  }
  return std::nullopt;
}

}  // namespace whystop
