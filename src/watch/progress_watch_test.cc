#include "watch/progress_watch.h"

#include <gtest/gtest.h>

#include <cstring>

#include "wire/ring_format.h"

namespace whystop {
namespace {

using std::chrono::seconds;

Record Output(seconds at) { return {at, LogBytes{LogStream::kStdout, 0, "x\n"}}; }

Record Step(seconds at, std::int64_t step, std::int64_t pid = 1) {
  Slot slot{};
  slot.kind = static_cast<std::uint8_t>(SlotKind::kStep);
  StepBody body{};
  body.step = step;
  std::memcpy(slot.body, &body, sizeof(body));
  return {at, ProbeSlots{pid, std::string(reinterpret_cast<const char*>(&slot), sizeof(slot))}};
}

TEST(ProgressWatch, OutputIsASignUntilStepsAreSeen) {
  ProgressWatch watch(std::nullopt);
  watch.Take(Output(seconds(10)));
  EXPECT_EQ(watch.Silence(seconds(15)), seconds(5));
  watch.Take(Step(seconds(20), 1));
  watch.Take(Output(seconds(40)));  // A heartbeat that a thread prints is no step.
  EXPECT_EQ(watch.Silence(seconds(50)), seconds(30));
  EXPECT_EQ(watch.LastSign(), "step 1");
}

TEST(ProgressWatch, TheLimitGrowsWithTheStepsAndNeverFallsBelowTheFloor) {
  ProgressWatch fast(std::nullopt);
  ProgressWatch slow(std::nullopt);
  for (int i = 1; i <= 50; ++i) {
    fast.Take(Step(seconds(i), i));
    slow.Take(Step(seconds(30 * i), i));
  }
  EXPECT_EQ(fast.Limit().waiting, seconds(120));
  EXPECT_EQ(slow.Limit().waiting, seconds(300));
  EXPECT_GE(slow.Limit().busy, slow.Limit().waiting);
}

/// An evaluation or a checkpoint that was once waited for is waited for again.
TEST(ProgressWatch, ALongPauseIsLearned) {
  ProgressWatch watch(std::nullopt);
  for (int i = 1; i <= 9; ++i) {
    watch.Take(Step(seconds(i), i));
  }
  watch.Take(Step(seconds(609), 10));
  EXPECT_EQ(watch.Limit().waiting, seconds(1800));
}

TEST(ProgressWatch, TheUsersOwnLimitStands) {
  ProgressWatch watch(seconds(7));
  watch.Take(Step(seconds(1), 1));
  watch.Take(Step(seconds(601), 2));
  EXPECT_EQ(watch.Limit().waiting, seconds(7));
}

TEST(ProgressWatch, ARepeatedStepIsNoProgress) {
  ProgressWatch watch(std::nullopt);
  watch.Take(Step(seconds(1), 5));
  watch.Take(Step(seconds(9), 5));
  EXPECT_EQ(watch.Silence(seconds(10)), seconds(9));
}

}  // namespace
}  // namespace whystop
