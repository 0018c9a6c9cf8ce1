#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// A file that is mapped into a process, by the lowest address of its first part.
struct MappedFile {
  std::uint64_t start = 0;   // Address of the mapping that holds the file's beginning.
  std::uint64_t offset = 0;  // Of that mapping within the file.
  std::string path;          // As the process names it.
};

/// The mapped files of a /proc/PID/maps text, one entry a file.
std::vector<MappedFile> ParseMaps(std::string_view text);

}  // namespace whystop
