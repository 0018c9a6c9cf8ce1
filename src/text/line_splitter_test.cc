#include "text/line_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace whystop {
namespace {

struct Lines : LineSink {
  void OnLine(const LogLine& line) override {
    got.push_back(std::to_string(line.number) + ":" + std::string(line.text));
  }
  void OnNulRun(std::int64_t bytes, std::int64_t line) override {
    got.push_back("nul " + std::to_string(bytes) + " before " + std::to_string(line));
  }
  std::vector<std::string> got;
};

std::vector<std::string> Split(std::string_view bytes, std::size_t chunk) {
  Lines lines;
  LineSplitter splitter(lines);
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    splitter.Feed(bytes.substr(at, chunk));
  }
  splitter.Finish();
  return lines.got;
}

using Strings = std::vector<std::string>;

TEST(LineSplitter, SplitsAtNewlinesAndReturns) {
  EXPECT_EQ(Split("a\nb\r\nc\rd\n\ne", 100), (Strings{"1:a", "2:b", "3:c", "3:d", "4:", "5:e"}));
}

TEST(LineSplitter, DropsColoursCursorMovesAndBackspaces) {
  EXPECT_EQ(Split("\x1b[34m\x1b[1mAMP: \x1b[0mrunning\x1b[K\n12%\x1b[A\nx\b\b\by\n", 100),
            (Strings{"1:AMP: running", "2:12%", "3:xy"}));
}

TEST(LineSplitter, NulRunsPartLinesAndAreCounted) {
  const std::string bytes("bar\0\0\0fresh start\n\0\0\n", 21);
  EXPECT_EQ(Split(bytes, 100), (Strings{"1:bar", "nul 3 before 1", "1:fresh start"}));
}

TEST(LineSplitter, RemembersANulTail) {
  Lines lines;
  LineSplitter splitter(lines);
  splitter.Feed(std::string("64%|###\0\0\0\0", 11));
  splitter.Finish();
  EXPECT_EQ(splitter.nul_tail_bytes(), 4);
  EXPECT_TRUE(splitter.ended_mid_line());
}

TEST(LineSplitter, ReadsUtf16) {
  const std::string little("\xFF\xFEL\0o\0s\0s\0\n\0\xE4\0", 14);
  EXPECT_EQ(Split(little, 100), (Strings{"1:Loss", "2:\xC3\xA4"}));
  const std::string big("\xFE\xFF\0L\0o\xD8\x3D\xDE\x80", 10);
  EXPECT_EQ(Split(big, 3), (Strings{"1:Lo\xF0\x9F\x9A\x80"}));
}

TEST(LineSplitter, HandsOutEndlessLinesInPieces) {
  const std::string bytes(3 * LineSplitter::kLineBytesMax + 5, 'x');
  const Strings got = Split(bytes + "\nnext\n", 1000);
  ASSERT_EQ(got.size(), 5U);
  EXPECT_EQ(got[3], "1:xxxxx");
  EXPECT_EQ(got[4], "2:next");
}

/// Goal: chunking must not matter. Method: a nasty text, in chunks of every size.
TEST(LineSplitter, AnyChunkingGivesTheSameLines) {
  std::string bytes("\xEF\xBB\xBF 1%|\r 2%|\x1b[31m\r\n\r\r\nplain\n\0\0text\0\n", 36);
  bytes += std::string(LineSplitter::kLineBytesMax, 'y') + "\n" +
           std::string(LineSplitter::kLineBytesMax + 1, 'z') + "\rq";
  const Strings whole = Split(bytes, bytes.size());
  for (std::size_t chunk = 1; chunk < 60; ++chunk) {
    ASSERT_EQ(Split(bytes, chunk), whole) << "chunks of " << chunk;
  }
}

}  // namespace
}  // namespace whystop
