#include "base/crc32.h"

#include <gtest/gtest.h>

#include <string>

namespace whystop {
namespace {

TEST(Crc32, GivesTheCheckValueOfTheStandard) {
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(Crc32(""), 0U);
  EXPECT_EQ(Crc32(std::string(32, '\0')), 0x190a55adU);
}

TEST(Crc32, GoesOnFromASeed) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Crc32(text.substr(cut), Crc32(text.substr(0, cut))), Crc32(text));
  }
}

}  // namespace
}  // namespace whystop
