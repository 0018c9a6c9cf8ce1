#include "view/log_lines.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

TEST(LogLines, KeepsTheEndAndWhatIsAroundAMark) {
  LogLines lines("stdout");
  lines.Mark(1000);
  for (int i = 1; i <= 5000; ++i) {
    lines.Feed("line " + std::to_string(i) + "\n");
  }
  const Excerpt excerpt = lines.Finish();
  EXPECT_TRUE(lines.Holds(1000));
  EXPECT_FALSE(lines.Holds(2000));
  EXPECT_EQ(excerpt.lines.front().number, 1000 - LogLines::kLinesAround);
  EXPECT_EQ(excerpt.lines.back().text, "line 5000");
  EXPECT_EQ(excerpt.lines.size(), LogLines::kLinesAtEnd + 2 * LogLines::kLinesAround + 1);
}

TEST(LogLines, ABarThatIsRedrawnIsOneLine) {
  LogLines lines("terminal");
  for (int i = 0; i <= 100; ++i) {
    lines.Feed("\r" + std::to_string(i) + "%|###|");
  }
  lines.Feed("\ndone\n");
  const Excerpt excerpt = lines.Finish();
  ASSERT_EQ(excerpt.lines.size(), 2U);
  EXPECT_EQ(excerpt.lines[0].text, "100%|###|");
}

TEST(LogLines, EscapesAreGone) {
  LogLines lines("stdout");
  lines.Feed("\x1b]0;title\x07\x1b[31mred\x1b[0m\n");
  EXPECT_EQ(lines.Finish().lines[0].text, "red");
}

}  // namespace
}  // namespace whystop
