#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace whystop {

/// The character at the start of a text that is not empty.
struct Utf8Character {
  std::size_t bytes = 0;  // 0: not well-formed UTF-8.
  char32_t code = 0;
};
Utf8Character FirstCharacter(std::string_view text);

/// Whether a character shows as itself and does nothing else. Control characters (C0, DEL, C1: U+009B
/// begins an escape sequence), overrides of the writing direction and invisible ones do not: a
/// terminal or a reader would be led by whoever wrote the text.
bool ShowsAsItself(char32_t code);

/// The one way in which text that is not ours (log lines, file names, command lines, messages) comes
/// before somebody's eyes: well-formed UTF-8, only characters that show as themselves. White space
/// becomes a blank, all else U+FFFD. Longer than `bytes_max`: cut, with "..." at the end.
std::string ShownText(std::string_view text, std::size_t bytes_max = std::string_view::npos);

/// The same of several lines: their ends and tabs stay, and the last one gets its end.
std::string ShownLines(std::string_view text);

}  // namespace whystop
