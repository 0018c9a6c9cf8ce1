#include "symbol/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fd.h"
#include "symbol/byte_cursor.h"

namespace whystop {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr off_t kFileBytesMax = off_t{8} << 30;

std::string_view Part(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset
             ? bytes.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(size))
             : std::string_view();
}

template <typename T>
std::optional<T> Read(std::string_view bytes, std::uint64_t offset) {
  const std::string_view part = Part(bytes, offset, sizeof(T));
  if (part.size() != sizeof(T)) {
    return std::nullopt;
  }
  T out;
  std::memcpy(&out, part.data(), sizeof(T));
  return out;
}

}  // namespace

Result<ElfFile> ElfFile::Open(const std::string& path) {
  auto fd = OpenFd(path, O_RDONLY | O_NONBLOCK);
  if (!fd) {
    return fd.error();
  }
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0 || info.st_size > kFileBytesMax) {
    return Error{Error::Code::kUsage, "'" + path + "' is no program", ""};
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd->get(), 0);
  if (data == MAP_FAILED) {
    return SystemError("cannot map '" + path + "'", errno);
  }
  ElfFile file(static_cast<const char*>(data), size);
  if (!file.ReadTables()) {
    return Error{Error::Code::kUsage, "'" + path + "' is no program", ""};
  }
  return file;
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), sections_(std::move(other.sections_)), code_(std::move(other.code_)) {}

ElfFile::~ElfFile() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
}

bool ElfFile::ReadTables() {
  const auto header = Read<Elf64_Ehdr>(bytes_, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return false;
  }
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = Read<Elf64_Phdr>(bytes_, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment && segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
      code_.push_back({segment->p_offset, segment->p_vaddr, segment->p_filesz});
    }
  }
  const auto names = Read<Elf64_Shdr>(bytes_, header->e_shoff + header->e_shstrndx * sizeof(Elf64_Shdr));
  const std::string_view texts = names ? Part(bytes_, names->sh_offset, names->sh_size) : std::string_view();
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = Read<Elf64_Shdr>(bytes_, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (section && section->sh_type != SHT_NOBITS && (section->sh_flags & SHF_COMPRESSED) == 0) {
      sections_.push_back({TextAt(texts, section->sh_name), Part(bytes_, section->sh_offset, section->sh_size)});
    }
  }
  return true;
}

std::string_view ElfFile::Section(std::string_view name) const {
  for (const Named& section : sections_) {
    if (section.name == name) {
      return section.bytes;
    }
  }
  return {};
}

std::optional<std::uint64_t> ElfFile::AddressOf(std::uint64_t file_offset) const {
  for (const Code& code : code_) {
    if (file_offset >= code.offset && file_offset - code.offset < code.size) {
      return file_offset - code.offset + code.address;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ElfFile::CodeOffset(std::uint64_t mapped_bytes) const {
  for (const Code& code : code_) {
    const std::uint64_t begin = code.offset & ~(kPage - 1);
    const std::uint64_t end = (code.offset + code.size + kPage - 1) & ~(kPage - 1);
    if (end - begin == mapped_bytes) {
      return begin;
    }
  }
  return std::nullopt;
}

}  // namespace whystop
