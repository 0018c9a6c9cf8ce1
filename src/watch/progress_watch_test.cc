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

Record Phase(seconds at, std::string_view word, std::int64_t pid = 1) {
  Slot slot{};
  slot.kind = static_cast<std::uint8_t>(SlotKind::kPhase);
  slot.body[0] = static_cast<unsigned char>(word.size());
  std::memcpy(slot.body + 1, word.data(), word.size());
  return {at, ProbeSlots{pid, std::string(reinterpret_cast<const char*>(&slot), sizeof(slot))}};
}

Record Written(seconds at, std::int64_t bytes) {
  Sample sample;
  sample.readings.push_back({.subject = 1, .quantity = Quantity::kTreeWrittenBytes, .value = bytes});
  return {at, Event{.at = at, .body = sample}};
}

/// Ten steps a second apart, from `at` on.
void TakeSteps(ProgressWatch& watch, seconds at) {
  for (int i = 0; i < 10; ++i) {
    watch.Take(Step(at + seconds(i), at.count() + i));
  }
}

/// Whatever nobody told of: it is waited for again.
TEST(ProgressWatch, ALongPauseIsLearned) {
  ProgressWatch watch(std::nullopt);
  for (int i = 1; i <= 9; ++i) {
    watch.Take(Step(seconds(i), i));
  }
  watch.Take(Step(seconds(609), 10));
  EXPECT_EQ(watch.Limit().waiting, seconds(1800));
}

TEST(ProgressWatch, AnEvaluationIsWaitedForAgainAndAStepIsNot) {
  ProgressWatch watch(std::nullopt);
  TakeSteps(watch, seconds(1));
  watch.Take(Phase(seconds(10), "eval"));
  EXPECT_EQ(watch.Limit().waiting, seconds(300));  // The first one.
  EXPECT_EQ(watch.Silence(seconds(200)), seconds(190));
  EXPECT_EQ(watch.LastSign(), "eval after step 10");
  TakeSteps(watch, seconds(610));
  EXPECT_EQ(watch.Limit().waiting, seconds(120));
  watch.Take(Phase(seconds(620), "eval"));
  EXPECT_EQ(watch.Limit().waiting, seconds(1800));
  EXPECT_EQ(watch.Limit().reason, "3 times its longest pause in its phase \"eval\" so far, 10 m 0 s");
}

/// What came before the first step (a compiler, a download) says nothing about the steps.
TEST(ProgressWatch, TheStartIsAPhaseOfItsOwn) {
  ProgressWatch watch(std::nullopt);
  EXPECT_EQ(watch.Limit().waiting, seconds(300));
  watch.Take(Output(seconds(1)));
  watch.Take(Output(seconds(901)));
  EXPECT_GT(watch.Limit().waiting, seconds(900));
  TakeSteps(watch, seconds(1900));
  EXPECT_EQ(watch.Limit().waiting, seconds(120));
}

TEST(ProgressWatch, WhatIsWrittenBetweenTwoStepsIsACheckpoint) {
  ProgressWatch watch(std::nullopt);
  TakeSteps(watch, seconds(1));
  watch.Take(Written(seconds(15), 1 << 20));  // A log.
  EXPECT_EQ(watch.LastSign(), "step 10");
  watch.Take(Written(seconds(20), std::int64_t{4} << 30));
  EXPECT_EQ(watch.LastSign(), "checkpoint after step 10");
  TakeSteps(watch, seconds(520));
  EXPECT_EQ(watch.Limit().waiting, seconds(120));
  watch.Take(Written(seconds(540), std::int64_t{8} << 30));
  EXPECT_EQ(watch.Limit().waiting, seconds(1500));
}

TEST(ProgressWatch, OneRankEvaluatesWhileTheLastStepOfAnotherIsUnderWay) {
  ProgressWatch watch(std::nullopt);
  watch.Take(Step(seconds(1), 1, 7));
  watch.Take(Phase(seconds(2), "eval", 7));
  watch.Take(Step(seconds(3), 1, 8));
  EXPECT_EQ(watch.Limit().waiting, seconds(300));
  watch.Take(Step(seconds(9), 2, 7));
  EXPECT_EQ(watch.Limit().waiting, seconds(120));
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
