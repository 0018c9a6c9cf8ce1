#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace whystop {
namespace {

TEST(Crc32c, MatchesTheKnownCheckValue) { EXPECT_EQ(Crc32c("123456789"), 0xe3069283U); }

TEST(Crc32c, GoesOnFromASeed) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(
        Crc32c(std::string_view(text).substr(cut), Crc32c(std::string_view(text).substr(0, cut))),
        Crc32c(text))
        << "cut at " << cut;
  }
}

}  // namespace
}  // namespace whystop
