#include "watch/hang_decision.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

using std::chrono::seconds;

const SilenceLimit kLimit{.waiting = seconds(100), .busy = seconds(1000), .reason = {}};

Stillness OneProcess(char state, double cpu_share) {
  ProcessLook process;
  process.python = "3.11";
  process.state = state;
  process.same_frames = process.same_variables = true;
  process.threads.resize(1);
  process.threads[0].state = state;
  process.threads[0].waits_in = "futex";
  Stillness seen;
  seen.processes.push_back(process);
  seen.cpu_share = cpu_share;
  seen.cpu_s = cpu_share;
  return seen;
}

TEST(HangDecision, WaitsWhenNobodyComputesAndNothingMoves) {
  EXPECT_EQ(DecideStandstill(OneProcess('S', 0), 0, seconds(101), kLimit), Standstill::kWaiting);
}

TEST(HangDecision, MovesWhenAStackMoves) {
  Stillness seen = OneProcess('S', 0);
  seen.processes[0].same_frames = false;
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(9999), kLimit), Standstill::kNone);
}

TEST(HangDecision, MovesWhenProcessesComeAndGo) {
  Stillness seen = OneProcess('S', 0);
  seen.same_processes = false;
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(9999), kLimit), Standstill::kNone);
}

TEST(HangDecision, BytesToStorageAreWork) {
  Stillness seen = OneProcess('S', 0);
  seen.io_bytes = 64 << 20;
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(9999), kLimit), Standstill::kNone);
}

TEST(HangDecision, AnAnswerThatComesInPiecesIsWork) {
  Stillness seen = OneProcess('S', 0);
  seen.peer_wakes = 8;
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(9999), kLimit), Standstill::kNone);
}

TEST(HangDecision, WhatRunsElsewhereCannotBeJudgedFromHere) {
  Stillness seen = OneProcess('S', 0);
  seen.processes[0].name = "srun";
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(9999), kLimit), Standstill::kNone);
}

TEST(HangDecision, ASleepInAChildIsASleep) {
  Stillness seen = OneProcess('S', 0);
  seen.processes[0].threads[0].waits_in = "wait";
  seen.processes[0].pid = 1;
  seen.processes.push_back(seen.processes[0]);
  seen.processes[1].pid = 2;
  seen.processes[1].parent_pid = 1;
  seen.processes[1].python.clear();
  seen.processes[1].threads[0].waits_in = "sleep";
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(101), kLimit), Standstill::kNone);
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(1001), kLimit), Standstill::kSleeping);
}

TEST(HangDecision, ACompilerThatComputesInOnePlaceIsWork) {
  Stillness seen = OneProcess('R', 1);
  seen.processes[0].name = "cc1plus";
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(99999), kLimit), Standstill::kNone);
}

TEST(HangDecision, AGpuThatComputesIsWork) {
  EXPECT_EQ(DecideStandstill(OneProcess('S', 0), 90, seconds(101), kLimit), Standstill::kNone);
}

TEST(HangDecision, OneLongCallGetsLongerThanAWait) {
  EXPECT_EQ(DecideStandstill(OneProcess('R', 1), 0, seconds(200), kLimit), Standstill::kNone);
  EXPECT_EQ(DecideStandstill(OneProcess('R', 1), 0, seconds(1001), kLimit), Standstill::kBusy);
}

TEST(HangDecision, VariablesThatChangeAreBelievedLonger) {
  Stillness seen = OneProcess('R', 1);
  seen.processes[0].same_variables = false;
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(1001), kLimit), Standstill::kNone);
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(10001), kLimit), Standstill::kBusy);
}

/// Starved of a processor on a busy machine, not stuck.
TEST(HangDecision, AProcessThatGotNoProcessorIsNotJudged) {
  Stillness seen = OneProcess('R', 0.01);
  seen.always_runs = true;
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(9999), kLimit), Standstill::kNone);
}

TEST(HangDecision, ASleepThatItsAuthorAskedForIsBelievedLonger) {
  Stillness seen = OneProcess('S', 0);
  seen.processes[0].threads[0].waits_in = "sleep";
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(999), kLimit), Standstill::kNone);
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(1001), kLimit), Standstill::kSleeping);
}

TEST(HangDecision, AStoppedProcessNeedsNoMore) {
  EXPECT_EQ(DecideStandstill(OneProcess('T', 0), 0, seconds(101), kLimit), Standstill::kStopped);
}

TEST(HangDecision, ANotebookThatWaitsForItsUserIsWell) {
  Stillness seen = OneProcess('S', 0);
  seen.processes[0].threads[0].frames = {
      {"/usr/lib/python3/dist-packages/ipykernel_launcher.py", 17, "<module>", "", false},
      {"/usr/lib/python3/dist-packages/ipykernel/kernelapp.py", 700, "start", "", false},
      {"/usr/lib/python3.11/selectors.py", 468, "EpollSelector.select", "", false}};
  EXPECT_EQ(DecideStandstill(seen, 0, seconds(99999), kLimit), Standstill::kNone);
}

}  // namespace
}  // namespace whystop
