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

}  // namespace whystop
