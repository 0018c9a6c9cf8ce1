#include "sense/near_limit.h"

#include <gtest/gtest.h>

#include "sense/clock_watch.h"

namespace whystop {
namespace {

using std::chrono::seconds;

TEST(NearLimit, SpeaksWhenLessThanATenthIsLeft) {
  NearLimit near;
  near.Begin(seconds(1));
  near.Watch("memory of cgroup /a", 10, 100);
  EXPECT_EQ(near.reason(), "");
  near.Watch("memory of cgroup /b", 9, 100);
  EXPECT_EQ(near.reason(), "memory of cgroup /b");
  EXPECT_TRUE(near.about_memory());
}

TEST(NearLimit, SpeaksWhenThePaceUsesUpTheRestSoon) {
  NearLimit near;
  near.Begin(seconds(1));
  near.WatchPace("space of /", 1000);
  EXPECT_EQ(near.reason(), "");
  near.Begin(seconds(2));
  near.WatchPace("space of /", 900);  // 100 a second: nine seconds left.
  EXPECT_EQ(near.reason(), "");
  near.Begin(seconds(3));
  near.WatchPace("space of /", 600);  // 300 a second: two seconds left.
  EXPECT_EQ(near.reason(), "space of /");
  near.Begin(seconds(4));
  near.WatchPace("space of /", 600);
  EXPECT_EQ(near.reason(), "") << "a level that stands still is no news";
}

TEST(NearLimit, TakesNothingFromAbsentValues) {
  NearLimit near;
  near.Begin(seconds(1));
  near.Watch("a", std::nullopt, 100);
  near.Watch("b", 0, std::nullopt);
  near.WatchPace("c", std::nullopt);
  EXPECT_EQ(near.reason(), "");
}

TEST(CompareClocks, TellsSleepFromASetClock) {
  const ClockReading before{seconds(100), seconds(150), seconds(1000)};
  const ClockStep awake = CompareClocks(before, {seconds(101), seconds(151), seconds(1001)});
  EXPECT_EQ(awake.elapsed, seconds(1));
  EXPECT_EQ(awake.suspended, seconds(0));
  EXPECT_EQ(awake.wall_jump, seconds(0));
  const ClockStep slept = CompareClocks(before, {seconds(101), seconds(751), seconds(1601)});
  EXPECT_EQ(slept.suspended, seconds(600));
  EXPECT_EQ(slept.wall_jump, seconds(0)) << "the wall clock went on with the sleep";
  const ClockStep set_back = CompareClocks(before, {seconds(101), seconds(151), seconds(401)});
  EXPECT_EQ(set_back.suspended, seconds(0));
  EXPECT_EQ(set_back.wall_jump, seconds(-600));
}

}  // namespace
}  // namespace whystop
