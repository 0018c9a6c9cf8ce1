#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace whystop {

/// A program or library of this machine's kind (64 bits, little-endian), mapped for reading.
class ElfFile {
 public:
  static Result<ElfFile> Open(const std::string& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&&) = delete;
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile();

  /// Empty: there is none, or it is compressed.
  std::string_view Section(std::string_view name) const;
  /// The address, as the file counts, of a byte of its code.
  std::optional<std::uint64_t> AddressOf(std::uint64_t file_offset) const;
  /// Where the code begins in the file, of a mapping as long as this one; nullopt: no segment of code is so long.
  std::optional<std::uint64_t> CodeOffset(std::uint64_t mapped_bytes) const;

 private:
  ElfFile(const char* data, std::size_t size) : bytes_(data, size) {}
  bool ReadTables();

  struct Named {
    std::string_view name;
    std::string_view bytes;
  };
  struct Code {
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
  };
  std::string_view bytes_;
  std::vector<Named> sections_;
  std::vector<Code> code_;
};

}  // namespace whystop
