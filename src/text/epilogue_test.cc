#include "text/epilogue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/collect_events.h"
#include "text/log_reader.h"

namespace whystop {
namespace {

TextEnd::Kind EndOf(const std::string& log) {
  CollectEvents kept;
  LogReader reader("log", kept, {.text_end = true});
  reader.Feed(log, RunTime{});
  reader.Finish(RunTime{}, std::nullopt);
  return kept.All<TextEnd>().at(0).kind;
}

bool Completes(const std::string& log) { return EndOf(log) == TextEnd::Kind::kCompleted; }

/// Epochs without a plan, each followed by what the loop says.
std::string Loop(int epochs, const std::string& between = "") {
  std::string log;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    log += "Epoch " + std::to_string(epoch) + ": loss 0." + std::to_string(99 - epoch % 90) + "\n" +
           between;
  }
  return log;
}

const std::string kTraceback =
    "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    "
    "main()\nRuntimeError: boom\n";

TEST(Epilogue, WordsOfTheEndAreHeardAfterTheLastStep) {
  EXPECT_FALSE(Completes(Loop(37)));
  EXPECT_TRUE(Completes(Loop(37) + "Optimization complete with best score of 5.6 %\n"));
  EXPECT_TRUE(Completes(Loop(37) + "The experiment is over.\nsee results.txt\n"));
  EXPECT_TRUE(Completes(Loop(37) + "**** Final test accuracy: 96.87 ****\n"));
  EXPECT_TRUE(Completes(Loop(37) + "Done.\n"));
  EXPECT_TRUE(Completes(Loop(37) + "Optimization complete, with the best score on iteration 36960\n"));
}

TEST(Epilogue, AScriptsLastWordDoesNotUndoAFailureShortOfThePlan) {
  std::string log;
  for (int step = 1; step <= 40; ++step) {
    log += "step " + std::to_string(step) + "/5000 loss 0." + std::to_string(99 - step) + "\n";
  }
  EXPECT_FALSE(Completes(log + kTraceback + "launch: killing subprocess 17\nDone.\n"));
  EXPECT_FALSE(Completes(log + kTraceback + "launch: killing subprocess 17\nThe job has finished.\n"));
  EXPECT_TRUE(Completes(log + "Done.\n"));
}

TEST(Epilogue, WhatTheLoopSaysItselfIsNotTheEnd) {
  EXPECT_FALSE(Completes(Loop(37, "Search finished in 3 s\n")));
  EXPECT_FALSE(Completes(Loop(37, "Done.\n")));
  EXPECT_FALSE(Completes(Loop(37, "Final accuracy so far: 0.5\n")));
  EXPECT_FALSE(Completes("Search finished in 3 s\n" + Loop(37)));
  EXPECT_FALSE(Completes(Loop(37) + "saving a checkpoint\n"));
  EXPECT_FALSE(Completes(Loop(37) + "Accuracy on the test set: 71 %\n"));
}

TEST(Epilogue, ARoundCountAndOtherWordsAfterItAreAnEnd) {
  EXPECT_FALSE(Completes(Loop(200)));
  EXPECT_TRUE(Completes(Loop(200) + "Accuracy of the net on the test images: 97 %\n"));
  EXPECT_TRUE(Completes(Loop(200) + "node epilog v1\n"));
  EXPECT_FALSE(Completes(Loop(200) + "UserWarning: slow disk\n"));
  EXPECT_FALSE(Completes(Loop(200, "Accuracy of the net on the test images: 97 %\n")));
}

TEST(Epilogue, WhoGoesOnTalkingDoesSomethingElse) {
  std::string other;
  for (int i = 0; i < 300; ++i) {
    other += "cost " + std::to_string(i) + "\n";
  }
  EXPECT_FALSE(Completes(Loop(200) + "next net\n" + other));
  EXPECT_FALSE(Completes(Loop(37) + "Final validation accuracy: 0.9\n" + other));
  EXPECT_FALSE(
      Completes("wandb: Synced 5 W&B file(s)\nwandb: Agent starting run a\nwandb: batch 5\nwandb: rate 1\nwandb: width 8\n"));
  EXPECT_FALSE(Completes("wandb: Synced 5 W&B file(s)\nwandb: agent starts the next one\nloading\n"));
}

TEST(Epilogue, AFailureTakesTheWordsBack) {
  EXPECT_FALSE(Completes(Loop(37) + "The experiment is over.\n" + kTraceback));
  EXPECT_FALSE(Completes(Loop(37) + kTraceback + "wandb: Synced 5 W&B file(s)\n"));
}

/// It is printed at exit, to the stream that tracebacks go to.
TEST(Epilogue, ATrackersReportWithoutAFailureIsAnEnd) {
  EXPECT_TRUE(Completes("wandb: Run summary:\nwandb:   loss 0.5\nwandb: Synced 5 W&B file(s)\n"));
  EXPECT_FALSE(Completes("12%|# | 12/100 [00:10<01:00, 1.0it/s, loss=0.5]\nwandb: Synced 5 W&B file(s)\n"));
}

TEST(Epilogue, AScriptThatEndsWithItsName) {
  const std::string once = "START fit.py\nfit the trees\nEND fit.py\n";
  EXPECT_TRUE(Completes(once));
  EXPECT_TRUE(Completes(once + once));
  EXPECT_FALSE(Completes(once + "START fit.py\nfit the trees\n"));
}

TEST(Epilogue, RoundPlans) {
  for (const double count : {20, 25, 50, 100, 150, 250, 1000, 80000}) {
    EXPECT_TRUE(IsRoundPlan(count)) << count;
  }
  for (const double count : {2, 10, 21, 37, 110, 1102, 37700}) {
    EXPECT_FALSE(IsRoundPlan(count)) << count;
  }
}

}  // namespace
}  // namespace whystop
