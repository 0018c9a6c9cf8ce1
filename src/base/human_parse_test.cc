#include "base/human_parse.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

using std::chrono::seconds;

/// Goal: a time or a size is what it says, or refused. Method: each unit, and what looks like one.
TEST(HumanParse, ReadsTimes) {
  EXPECT_EQ(ParseDuration("180"), seconds(180));
  EXPECT_EQ(ParseDuration("180s"), seconds(180));
  EXPECT_EQ(ParseDuration("1.5m"), seconds(90));
  EXPECT_EQ(ParseDuration("2h"), seconds(7200));
  EXPECT_EQ(ParseDuration("30d"), seconds(30 * 86400));
  EXPECT_EQ(ParseDuration("1w"), seconds(7 * 86400));
  for (const char* wrong : {"", "d", "0", "-1d", "1y", "nan", "inf", "1 d x", "1dd", "1e30d"}) {
    EXPECT_FALSE(ParseDuration(wrong)) << wrong;
  }
}

TEST(HumanParse, ReadsSizes) {
  EXPECT_EQ(ParseBytes("0"), 0);
  EXPECT_EQ(ParseBytes("4096"), 4096);
  EXPECT_EQ(ParseBytes("1k"), 1024);
  EXPECT_EQ(ParseBytes("200M"), std::int64_t{200} << 20);
  EXPECT_EQ(ParseBytes("2G"), std::int64_t{2} << 30);
  EXPECT_EQ(ParseBytes("1.5 GiB"), std::int64_t{3} << 29);
  EXPECT_EQ(ParseBytes("2GB"), std::int64_t{2} << 30);
  for (const char* wrong : {"", "G", "-1", "-1G", "2X", "nan", "inf", "1e30", "2GG", "iB"}) {
    EXPECT_FALSE(ParseBytes(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace whystop
