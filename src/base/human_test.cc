#include "base/human.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

TEST(Human, WritesBytesWithTheirUnit) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(17), "17 B");
  EXPECT_EQ(HumanBytes(1536), "1.5 KiB");
  EXPECT_EQ(HumanBytes(24.0 * (1 << 30)), "24.0 GiB");
  EXPECT_EQ(HumanBytes(134217728), "128 MiB");
}

TEST(Human, WritesDurationsInTheTwoLargestUnits) {
  EXPECT_EQ(HumanDuration(std::chrono::milliseconds(400)), "0.4 s");
  EXPECT_EQ(HumanDuration(std::chrono::seconds(862)), "14 m 22 s");
  EXPECT_EQ(HumanDuration(std::chrono::hours(50)), "2 d 2 h");
}

TEST(Human, GroupsDigits) {
  EXPECT_EQ(HumanCount(812), "812");
  EXPECT_EQ(HumanCount(1812), "1,812");
  EXPECT_EQ(HumanCount(-1234567), "-1,234,567");
}

TEST(Human, NamesSignals) {
  EXPECT_EQ(SignalName(9), "SIGKILL");
  EXPECT_EQ(SignalName(64), "signal 64");
}

}  // namespace
}  // namespace whystop
