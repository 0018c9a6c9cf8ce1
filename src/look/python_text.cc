#include "look/python_text.h"

#include <cstring>

namespace whystop {
namespace {

constexpr std::int64_t kTextMax = 4096;

void AppendUtf8(std::uint32_t letter, std::string& out) {
  if (letter < 0x80) {
    out += static_cast<char>(letter);
  } else if (letter < 0x800) {
    out += static_cast<char>(0xc0 | letter >> 6);
    out += static_cast<char>(0x80 | (letter & 0x3f));
  } else if (letter < 0x10000) {
    out += static_cast<char>(0xe0 | letter >> 12);
    out += static_cast<char>(0x80 | (letter >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (letter & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (letter >> 18 & 0x07));
    out += static_cast<char>(0x80 | (letter >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (letter >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (letter & 0x3f));
  }
}

struct TextForm {
  unsigned bytes_a_letter = 1;
  bool ascii = false;
};

/// What the word of a string's state says: interned (0 to 3) in two bits, in eight (without the
/// GIL) or in sixteen (3.14.0), then the size of a letter in 3 bits, compact, ascii. Where interned
/// takes more than two bits those after them are 0, which is no size.
std::optional<TextForm> FormOfText(std::uint32_t state) {
  for (const unsigned shift : {2U, 8U, 16U}) {
    const unsigned size = state >> shift & 7;
    if (size != 0) {
      const bool ascii = (state >> (shift + 4) & 1) != 0;
      return size == 1 || size == 2 || size == 4 ? std::optional(TextForm{size, ascii})
                                                 : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ReadPythonText(const RemoteMemory& memory, const PythonLayout& layout,
                                          std::uint64_t text) {
  constexpr std::uint64_t kLengthAndHash = 16;
  const auto length = memory.Value<std::int64_t>(text + layout.object_head);
  const auto state = memory.Value<std::uint32_t>(text + layout.object_head + kLengthAndHash);
  if (!length || !state || *length < 0 || *length > kTextMax) {
    return std::nullopt;
  }
  const std::optional<TextForm> form = FormOfText(*state);
  if (!form) {
    return std::nullopt;
  }
  const unsigned kind = form->bytes_a_letter;
  const auto bytes =
      memory.ReadBytes(text + (form->ascii ? layout.ascii_bytes : layout.compact_bytes),
                       static_cast<std::size_t>(*length) * kind);
  if (!bytes) {
    return std::nullopt;
  }
  std::string out;
  for (std::size_t i = 0; i + kind <= bytes->size(); i += kind) {
    std::uint32_t letter = 0;
    std::memcpy(&letter, bytes->data() + i, kind);
    AppendUtf8(letter, out);
  }
  return out;
}

}  // namespace whystop
