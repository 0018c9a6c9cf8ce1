#include "look/memory_map.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace whystop {
namespace {

std::optional<std::uint64_t> Hex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return fault == std::errc{} && end == text.data() + text.size() && !text.empty()
             ? std::optional(value)
             : std::nullopt;
}

/// "7f00-7f10 r--p 00001000 08:01 1234     /usr/lib/x.so"
std::optional<MappedFile> ParseLine(std::string_view line) {
  const std::size_t slash = line.find('/');
  const std::size_t dash = line.find('-');
  if (slash == std::string_view::npos || dash > slash) {
    return std::nullopt;
  }
  const std::size_t after_range = line.find(' ');
  const std::size_t after_rights = line.find(' ', after_range + 1);
  const std::size_t after_offset = line.find(' ', after_rights + 1);
  if (after_offset == std::string_view::npos || after_offset > slash) {
    return std::nullopt;
  }
  const auto start = Hex(line.substr(0, dash));
  const auto offset = Hex(line.substr(after_rights + 1, after_offset - after_rights - 1));
  if (!start || !offset) {
    return std::nullopt;
  }
  return MappedFile{*start, *offset, std::string(line.substr(slash))};
}

}  // namespace

std::vector<MappedFile> ParseMaps(std::string_view text) {
  std::vector<MappedFile> files;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto line = ParseLine(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (!line) {
      continue;
    }
    const auto known = std::find_if(files.begin(), files.end(), [&line](const MappedFile& file) {
      return file.path == line->path;
    });
    if (known == files.end()) {
      files.push_back(*line);
    }
  }
  return files;
}

}  // namespace whystop
