#include "import/jsonl/jsonl_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "model/collect_events.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

CollectEvents ReadLines(std::string_view text, std::size_t piece_bytes = 1 << 16) {
  CollectEvents sink;
  SeriesLog log("metrics.json", sink);
  MemorySource source(text, piece_bytes);
  ReadJsonLines(source, log);
  log.Finish();
  return sink;
}

CollectEvents ReadHistory(std::string_view text) {
  CollectEvents sink;
  SeriesLog log("history.json", sink);
  MemorySource source(text, 7);
  ReadJsonHistory(source, log);
  log.Finish();
  return sink;
}

TEST(JsonLines, FlattensObjectsAndReadsNaN) {
  const CollectEvents got = ReadLines(
      "{\"step\": 1, \"train\": {\"loss\": 2.5, \"parts\": [1, 2]}, \"note\": \"x\", \"lr\": "
      "null}\n"
      "{\"step\": 2, \"train\": {\"loss\": NaN}, \"grad_norm\": Infinity}\n");
  ASSERT_EQ(got.Values("train/loss").size(), 2u);
  EXPECT_EQ(got.Values("train/loss")[0], 2.5);
  EXPECT_TRUE(std::isnan(got.Values("train/loss")[1]));
  EXPECT_TRUE(std::isinf(got.Values("grad_norm").at(0)));
  EXPECT_EQ(got.All<Scalar>().size(), 3u);
  EXPECT_EQ(got.All<Scalar>()[0].step, 1);
}

/// Detectron2 writes no plan, but how long it will take.
TEST(JsonLines, ACountdownThatCameTo0IsTheEnd) {
  const std::string first = "{\"eta_seconds\": 40.5, \"iteration\": 19, \"total_loss\": 3.0}\n";
  const std::string last = "{\"eta_seconds\": 0.0, \"iteration\": 39, \"total_loss\": 2.0}\n";
  EXPECT_EQ(ReadLines(first + last).All<TextEnd>().at(0).kind, TextEnd::Kind::kCompleted);
  EXPECT_EQ(ReadLines(first).All<TextEnd>().at(0).kind, TextEnd::Kind::kSilent);
  EXPECT_EQ(ReadLines(first + last + first).All<TextEnd>().at(0).kind, TextEnd::Kind::kSilent) << "started anew";
}

TEST(JsonLines, TermsOfALoggedTotalAreParts) {
  const CollectEvents got =
      ReadLines("{\"iteration\": 19, \"loss_cls\": 1.0, \"total_loss\": 3.0}\n");
  const auto scalars = got.All<Scalar>();
  ASSERT_EQ(scalars.size(), 2u);
  EXPECT_EQ(scalars[0].role, SeriesRole::kLossPart);
  EXPECT_EQ(scalars[1].role, SeriesRole::kTrainLoss);
}

TEST(JsonLines, KnowsThePlanOfLlamaFactory) {
  const CollectEvents got = ReadLines(
      "{\"current_steps\": 10, \"total_steps\": 300, \"loss\": 1.5, \"epoch\": 0.1, "
      "\"elapsed_time\": \"0:01:02\"}\n");
  ASSERT_EQ(got.All<Progress>().size(), 1u);
  EXPECT_EQ(got.All<Progress>()[0].step, 10);
  EXPECT_EQ(got.All<Progress>()[0].steps_planned, 300);
  EXPECT_EQ(got.All<Scalar>().size(), 1u);
}

/// The last record of LLaMA-Factory has no loss any more.
TEST(JsonLines, ARowThatTellsThePlanIsProgressWithoutALoss) {
  const CollectEvents got = ReadLines(
      "{\"current_steps\": 295, \"total_steps\": 300, \"loss\": 1.5}\n"
      "{\"current_steps\": 300, \"total_steps\": 300, \"loss\": null}\n");
  ASSERT_EQ(got.All<Progress>().size(), 1u);
  EXPECT_EQ(got.All<Progress>()[0].step, 300);
}

TEST(JsonLines, RunsThatWereAppendedAreSessions) {
  const CollectEvents got = ReadLines(
      "{\"epoch\": 0, \"train_loss\": 3}\n{\"epoch\": 1, \"train_loss\": 2}\n{\"epoch\": 0, "
      "\"train_loss\": 4}\n");
  EXPECT_EQ(got.Observed(kSessionStart).size(), 1u);
}

TEST(JsonLines, EvaluationRowsMayCountDifferently) {
  const CollectEvents got = ReadLines(
      "{\"step\": 50, \"loss\": 3}\n{\"step\": 1, \"coco/bbox_mAP\": 0.1}\n{\"step\": 100, "
      "\"loss\": 2}\n");
  EXPECT_TRUE(got.Observed(kSessionStart).empty());
}

TEST(JsonLines, DropsBadLinesAndGoesOn) {
  const CollectEvents got =
      ReadLines("{\"step\": 1, \"loss\": 3}\nTraceback\n{\"step\": 2, \"loss\": 2}\n");
  EXPECT_EQ(got.Values("loss"), (std::vector<double>{3, 2}));
  EXPECT_EQ(got.Dropped("import.jsonl_bad_line"), 1);
}

TEST(JsonLines, DeepNestingIsRefusedNotRecursed) {
  const CollectEvents got = ReadLines("{\"a\":" + std::string(200000, '[') + "\n{\"loss\": 1}\n");
  EXPECT_EQ(got.Dropped("import.jsonl_bad_line"), 1);
  EXPECT_EQ(got.Values("loss"), std::vector<double>{1});
}

TEST(JsonLines, ACutFileGivesNoMoreThanTheWholeOne) {
  const std::string whole =
      "{\"step\": 1, \"loss\": 3.25, \"a\": {\"b\": \"t\"}}\n{\"step\": 2, \"loss\": -Infinity}\n";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const CollectEvents got = ReadLines(std::string_view(whole).substr(0, size), 3);
    EXPECT_LE(got.All<Scalar>().size(), 2u) << "cut at byte " << size;
    for (const double value : got.Values("loss")) {
      EXPECT_TRUE(value == 3.25 || std::isinf(value)) << "cut at byte " << size;
    }
  }
  EXPECT_EQ(ReadLines(whole.substr(0, whole.size() - 5)).All<TextEnd>().at(0).kind,
            TextEnd::Kind::kMidLine);
}

TEST(JsonHistory, ReadsColumnsAsKerasAndPandasWriteThem) {
  const CollectEvents keras =
      ReadHistory("{\"loss\": [1.5, 1.0, NaN], \"val_loss\": [2, 1.75, 1.5]}");
  EXPECT_EQ(keras.Values("val_loss"), (std::vector<double>{2, 1.75, 1.5}));
  EXPECT_EQ(keras.Values("loss").size(), 3u);
  EXPECT_EQ(keras.All<Scalar>().back().step, 2);
  const CollectEvents pandas = ReadHistory("{\"loss\": {\"0\": 1.5, \"1\": 1.0}}");
  EXPECT_EQ(pandas.Values("loss"), (std::vector<double>{1.5, 1.0}));
}

TEST(JsonHistory, ReadsAnArrayOfRows) {
  const CollectEvents got =
      ReadHistory("[{\"epoch\": 1, \"loss\": 2}, {\"epoch\": 2, \"loss\": 1}");
  EXPECT_EQ(got.Values("loss"), (std::vector<double>{2, 1}));
  EXPECT_EQ(got.All<TextEnd>().at(0).kind, TextEnd::Kind::kMidLine);
}

}  // namespace
}  // namespace whystop
