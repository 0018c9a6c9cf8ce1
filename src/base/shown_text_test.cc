#include "base/shown_text.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

std::string Encode(char32_t code) {
  std::string out;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
  } else if (code < 0x10000) {
    out += {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
            static_cast<char>(0x80 | (code & 0x3F))};
  } else {
    out += {static_cast<char>(0xF0 | (code >> 18)), static_cast<char>(0x80 | ((code >> 12) & 0x3F)),
            static_cast<char>(0x80 | ((code >> 6) & 0x3F)), static_cast<char>(0x80 | (code & 0x3F))};
  }
  return out;
}

/// Goal: no character that leads a terminal or a reader gets through, and all others do.
/// Method: every code point there is.
TEST(ShownText, LetsThroughWhatShowsAsItselfAndNothingElse) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) {
      continue;
    }
    const std::string text = Encode(code);
    const Utf8Character read = FirstCharacter(text);
    ASSERT_EQ(read.code, code);
    ASSERT_EQ(read.bytes, text.size());
    ASSERT_EQ(ShownText(text) == text, ShowsAsItself(code)) << std::hex << static_cast<int>(code);
  }
  for (const char32_t code : {0x1BU, 0x07U, 0x08U, 0x0DU, 0x7FU, 0x85U, 0x9BU, 0x9DU, 0x200FU, 0x202EU,
                              0x2066U, 0x2069U, 0xFEFFU, 0xE0041U}) {
    EXPECT_FALSE(ShowsAsItself(code)) << std::hex << static_cast<int>(code);
  }
}

TEST(ShownText, MakesWellFormedTextOfAnyBytes) {
  EXPECT_EQ(ShownText("a\xff\xc0\xaf\xed\xa0\x80z"),
            "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(ShownText("tab\tline\nend"), "tab line end");
  EXPECT_EQ(ShownText("\x1b[31mred"), "\xEF\xBF\xBD[31mred");
  EXPECT_EQ(ShownText("h\xC3\xA9llo \xE2\x96\x88 \xF0\x9F\x98\x80"),
            "h\xC3\xA9llo \xE2\x96\x88 \xF0\x9F\x98\x80");
}

TEST(ShownLines, KeepsLinesAndTabs) {
  EXPECT_EQ(ShownLines("a\tb\n\x1b[31m\n\nend"), "a\tb\n\xEF\xBF\xBD[31m\n\nend\n");
  EXPECT_EQ(ShownLines("whole\n"), "whole\n");
  EXPECT_EQ(ShownLines(""), "\n");
}

TEST(ShownText, CutsBetweenCharacters) {
  EXPECT_EQ(ShownText("0123456789", 8), "01234...");
  EXPECT_EQ(ShownText("012345\xC3\xA9\xC3\xA9\xC3\xA9", 10), "012345...");
}

}  // namespace
}  // namespace whystop
