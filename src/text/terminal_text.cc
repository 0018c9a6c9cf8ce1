#include "text/terminal_text.h"

#include <cstdint>

namespace whystop {
namespace {

/// Where the escape sequence at the start of `text` ends: CSI, OSC, or ESC and one byte.
std::size_t EscapeSize(std::string_view text) {
  if (text.size() < 2) {
    return text.size();
  }
  if (text[1] == '[') {
    for (std::size_t at = 2; at < text.size(); ++at) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte >= 0x40 && byte <= 0x7E) {
        return at + 1;
      }
      if (byte < 0x20) {
        return at;  // Broken off; keep what follows.
      }
    }
    return text.size();
  }
  if (text[1] == ']') {
    const std::size_t end = text.find('\x07', 2);
    return end == std::string_view::npos || end > 512 ? 2 : end + 1;
  }
  return 2;
}

/// Length of the well-formed UTF-8 character at the start of `text`; 0: there is none.
std::size_t CharacterSize(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80                    ? 1
                           : first >= 0xC2 && first < 0xE0 ? 2
                           : (first & 0xF0) == 0xE0        ? 3
                           : first >= 0xF0 && first < 0xF5 ? 4
                                                           : 0;
  if (size == 0 || size > text.size()) {
    return 0;
  }
  for (std::size_t at = 1; at < size; ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) {
      return 0;
    }
  }
  const auto second = size > 2 ? static_cast<unsigned char>(text[1]) : 0U;
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool beyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : size;
}

}  // namespace

void CleanTerminalText(std::string_view raw, std::string& out) {
  std::size_t at = 0;
  while (at < raw.size()) {
    const auto byte = static_cast<unsigned char>(raw[at]);
    if (byte == 0x1B) {
      at += EscapeSize(raw.substr(at));
    } else if (byte < 0x20 && byte != '\t') {
      ++at;
    } else {
      out.push_back(raw[at++]);
    }
  }
}

std::string ReadableText(std::string_view text, std::size_t bytes_max) {
  std::string out;
  out.reserve(text.size() < bytes_max ? text.size() : bytes_max);
  while (!text.empty()) {
    const std::size_t size = CharacterSize(text);
    const std::string_view character =
        size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size);
    if (out.size() + character.size() + 3 > bytes_max && text.size() > size + 3) {
      return out + "...";
    }
    if (static_cast<unsigned char>(character[0]) >= 0x20 && character[0] != 0x7F) {
      out.append(character);
    } else {
      out.push_back(' ');
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

}  // namespace whystop
