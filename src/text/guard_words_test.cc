#include "text/guard_words.h"

#include <gtest/gtest.h>

#include <string>

#include "model/collect_events.h"
#include "text/log_reader.h"

namespace whystop {
namespace {

CollectEvents ReadAll(const std::string& last_words) {
  std::string log;
  for (int epoch = 1; epoch <= 9; ++epoch) {
    log += "epoch " + std::to_string(epoch) + "/50 loss: 0." + std::to_string(99 - epoch) + "\n";
  }
  CollectEvents kept;
  LogReader reader("log", kept, {.text_end = true});
  reader.Feed(log + last_words, RunTime{});
  reader.Finish(RunTime{}, std::nullopt);
  return kept;
}

int GuardsIn(const std::string& last_words) {
  int found = 0;
  for (const LogFact& fact : ReadAll(last_words).All<LogFact>()) {
    found += fact.cause == "stop-on-nan" ? 1 : 0;
  }
  return found;
}

TEST(GuardWords, SayWhetherAnythingWasDoneAboutIt) {
  EXPECT_EQ(ReadNanGuard("loss became nan, aborting"), NanGuard::kStopped);
  EXPECT_EQ(ReadNanGuard("NaN loss encountered at step 12. Exiting."), NanGuard::kStopped);
  EXPECT_EQ(ReadNanGuard("Training diverged: loss is inf. Quitting"), NanGuard::kStopped);
  EXPECT_EQ(ReadNanGuard("Loss was NaN! batch: 12"), NanGuard::kTold);
  EXPECT_EQ(ReadNanGuard("Loss is nan, skipping this batch"), NanGuard::kNone);
  EXPECT_EQ(ReadNanGuard("stop training if the loss is nan"), NanGuard::kNone);
  EXPECT_EQ(ReadNanGuard("final loss is nan"), NanGuard::kNone);
  EXPECT_EQ(ReadNanGuard("val loss: nan"), NanGuard::kNone);
}

TEST(GuardWords, AreAnEndWhereNothingOfTrainingFollows) {
  EXPECT_EQ(GuardsIn("\nLoss was NaN! batch: 12\n"), 1);
  EXPECT_EQ(GuardsIn("loss became nan, aborting\nlogs are in out/\nbye\nand bye\n"), 1);
  EXPECT_EQ(GuardsIn("Loss was NaN! batch: 12\nevaluating\nsaved\nall is well\n"), 0);
  EXPECT_EQ(GuardsIn("loss became nan, aborting\nepoch 10/50 loss: 0.5\nepoch 11/50 loss: 0.4\n"), 0);
  EXPECT_EQ(GuardsIn("Loss is nan, stopping training\n"), 1);  // A row of the table says it as well: once.
}

}  // namespace
}  // namespace whystop
