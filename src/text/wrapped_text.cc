#include "text/wrapped_text.h"

#include <algorithm>
#include <map>

namespace whystop {
namespace {

constexpr std::size_t kWidthMin = 16;
constexpr int kFullLinesMin = 3;

std::size_t Characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  }));
}

std::string_view WithoutReturn(std::string_view line) {
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace

std::size_t FindWrapWidth(std::string_view text) {
  if (text.find("CategoryInfo") == std::string_view::npos) {
    return 0;
  }
  std::map<std::size_t, int> full;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = WithoutReturn(text.substr(0, end));
    // Rulers are as long as their writer likes.
    if (!line.empty() && line.back() != ' ' && line.back() != line.front()) {
      ++full[Characters(line)];
    }
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  std::size_t width = 0;
  int most = kFullLinesMin - 1;
  for (const auto& [length, count] : full) {
    if (length >= kWidthMin && count > most) {
      width = length;
      most = count;
    }
  }
  return width;
}

bool GoesOnInNextLine(std::string_view line, std::string_view next, std::size_t width) {
  line = WithoutReturn(line);
  next = WithoutReturn(next);
  const std::size_t length = Characters(line);
  if (width == 0 || length > width || next.empty() || line.empty()) {
    return false;
  }
  if (length == width) {
    return true;
  }
  // Broken at a blank, because the next word did not fit.
  const std::size_t word = Characters(next.substr(0, next.find(' ')));
  return line.back() == ' ' && next.front() != ' ' && length + word > width;
}

}  // namespace whystop
