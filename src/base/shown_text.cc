#include "base/shown_text.h"

#include <algorithm>
#include <array>

namespace whystop {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Range {
  char32_t first, last;
};
// Sorted. U+200C and U+200D stay: scripts and emoji need them, and they change nothing but their
// neighbours' shape.
constexpr std::array<Range, 14> kUnshown = {{{0x00, 0x1F},
                                             {0x7F, 0x9F},
                                             {0xAD, 0xAD},        // Soft hyphen.
                                             {0x61C, 0x61C},      // Arabic letter mark.
                                             {0x180E, 0x180E},    // Mongolian vowel separator.
                                             {0x200B, 0x200B},    // Zero-width space.
                                             {0x200E, 0x200F},    // Direction marks.
                                             {0x2028, 0x202E},    // Separators, embeddings, overrides.
                                             {0x2060, 0x206F},    // Joiners, isolates.
                                             {0xFEFF, 0xFEFF},    // Byte order mark.
                                             {0xFFF9, 0xFFFB},    // Annotations.
                                             {0x1D173, 0x1D17A},  // Musical formatting.
                                             {0xE0000, 0xE0FFF},  // Tags.
                                             {0x10FFFE, 0x10FFFF}}};

bool IsWhite(char32_t code) { return code >= 0x09 && code <= 0x0D; }

}  // namespace

Utf8Character FirstCharacter(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {1, lead};
  }
  const std::size_t bytes = lead >= 0xC2 && lead < 0xE0   ? 2
                            : (lead & 0xF0) == 0xE0       ? 3
                            : lead >= 0xF0 && lead < 0xF5 ? 4
                                                          : 0;
  if (bytes == 0 || bytes > text.size()) {
    return {};
  }
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t at = 1; at < bytes; ++at) {
    if ((byte(at) & 0xC0) != 0x80) {
      return {};
    }
    code = (code << 6) | (byte(at) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool beyond = (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF;
  return overlong || beyond ? Utf8Character{} : Utf8Character{bytes, code};
}

bool ShowsAsItself(char32_t code) {
  return std::none_of(kUnshown.begin(), kUnshown.end(), [code](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

std::string ShownText(std::string_view text, std::size_t bytes_max) {
  std::string out;
  out.reserve(std::min(text.size(), bytes_max));
  while (!text.empty()) {
    const Utf8Character character = FirstCharacter(text);
    const std::size_t taken = std::max<std::size_t>(character.bytes, 1);
    const bool well_formed = character.bytes > 0;
    const std::string_view shown = well_formed && ShowsAsItself(character.code)
                                       ? text.substr(0, taken)
                                   : well_formed && IsWhite(character.code) ? std::string_view(" ")
                                                                            : kReplacement;
    if (bytes_max != std::string_view::npos && out.size() + shown.size() + 3 > bytes_max &&
        text.size() > taken + 3) {
      return out + "...";
    }
    out.append(shown);
    text.remove_prefix(taken);
  }
  return out;
}

std::string ShownLines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += ShownText(text.substr(0, end)) + std::string(text.substr(end, 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out.empty() || out.back() != '\n' ? out + "\n" : out;
}

}  // namespace whystop
