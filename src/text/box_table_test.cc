#include "text/box_table.h"

#include <gtest/gtest.h>

#include <string>

#include "model/collect_events.h"
#include "text/log_reader.h"

namespace whystop {
namespace {

std::string Frame(int steps, const std::string& reward) {
  return "--------------------------------\n| rollout/           |         |\n|    ep_rew_mean     | " +
         reward + "    |\n| time/              |         |\n|    fps             | 812     |\n|    "
         "total_timesteps | " +
         std::to_string(steps) + " |\n--------------------------------\n";
}

CollectEvents ReadAll(const std::string& log) {
  CollectEvents kept;
  LogReader reader("log", kept, {.text_end = true});
  reader.Feed(log, RunTime{});
  reader.Finish(RunTime{}, std::nullopt);
  return kept;
}

TEST(BoxTable, AFrameIsOneLineOfFigures) {
  const CollectEvents kept = ReadAll(Frame(2048, "21.5") + "saving\n" + Frame(4096, "31.5"));
  EXPECT_EQ(kept.Values("ep_rew_mean"), (std::vector<double>{21.5, 31.5}));
  const auto points = kept.All<Scalar>();
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].step, 4096);
  EXPECT_EQ(points[1].role, SeriesRole::kTrainScore);
}

TEST(BoxTable, APlanThatIsNearlyReachedAndOtherWordsAreAnEnd) {
  std::string log;
  for (int steps = 1000; steps <= 98000; steps += 1000) {
    log += Frame(steps, "2.5");
  }
  const std::string settings = "Namespace(env='cars', num_timesteps=100000.0)\n";
  EXPECT_NE(ReadAll(settings + log).All<TextEnd>().at(0).kind, TextEnd::Kind::kCompleted);
  log += Frame(99000, "2.5");
  EXPECT_EQ(ReadAll(settings + log + "restored the best policy\n").All<TextEnd>().at(0).kind,
            TextEnd::Kind::kCompleted);
}

TEST(BoxTable, OtherBarsAreNoFrame) {
  BoxTable box;
  bool closed = false;
  EXPECT_FALSE(box.Push("| a | b | c |", closed));
  EXPECT_FALSE(box.Push("loss 0.5 | acc 0.1", closed));
  EXPECT_TRUE(box.Push("----------------", closed));
  EXPECT_FALSE(closed);
}

}  // namespace
}  // namespace whystop
