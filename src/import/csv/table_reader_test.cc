#include "import/csv/table_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "import/csv/csv_row.h"
#include "model/collect_events.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

CollectEvents ReadTable(std::string_view text, std::size_t piece_bytes = 1 << 16) {
  CollectEvents sink;
  SeriesLog log("metrics.csv", sink);
  MemorySource source(text, piece_bytes);
  TableReader(log).Read(source);
  log.Finish();
  return sink;
}

TEST(TableReader, ReadsASparseTableOfStepAndEpochRows) {
  const CollectEvents got = ReadTable(
      "epoch,lr-AdamW,step,train_loss_step,val_loss\n"
      ",0.0002,0,,\n"
      "0,,49,2.5,\n"
      "0,,99,2.25,\n"
      "0,,99,,2.0\n");
  EXPECT_EQ(got.Values("train_loss_step"), (std::vector<double>{2.5, 2.25}));
  EXPECT_EQ(got.Values("val_loss"), std::vector<double>{2.0});
  EXPECT_EQ(got.Values("lr-AdamW"), std::vector<double>{0.0002});
  const auto scalars = got.All<Scalar>();
  EXPECT_EQ(scalars[1].step, 49);
  EXPECT_EQ(scalars[1].epoch, 0.0);
  EXPECT_EQ(scalars[1].role, SeriesRole::kTrainLoss);
  EXPECT_EQ(scalars[1].place.line, 3);
  ASSERT_EQ(got.All<Progress>().size(), 1u);
  EXPECT_EQ(got.All<Progress>()[0].step, 99);
  EXPECT_EQ(got.All<Progress>()[0].epoch, 1.0);
  EXPECT_TRUE(got.Observed(kSessionStart).empty());
  EXPECT_EQ(got.All<TextEnd>().at(0).kind, TextEnd::Kind::kSilent);
}

TEST(TableReader, LinesMayEndInReturnsAlone) {
  for (const std::string_view text : {"epoch,loss\r0,1.5\r1,1.25\r2,1\r", "epoch,loss\r\r0,1.5\r\r1,1.25\r\r2,1\r\r",
                                      "epoch,loss\r\r\n0,1.5\r\r\n1,1.25\r\r\n2,1\r\r\n"}) {
    for (const std::size_t piece : {1U, 2U, 11U, 12U, 1000U}) {
      EXPECT_EQ(ReadTable(text, piece).Values("loss"), (std::vector<double>{1.5, 1.25, 1})) << text << piece;
    }
  }
}

TEST(TableReader, AnEpochThatGoesBackToTheStartIsANewSession) {
  const CollectEvents got = ReadTable("epoch,loss\n0,1\n1,0.9\n2,0.8\n0,1.1\n1,0.7\n");
  ASSERT_EQ(got.Observed(kSessionStart).size(), 1u);
  EXPECT_EQ(got.Observed(kSessionStart)[0].Number("from"), 2.0);
  EXPECT_EQ(got.All<Progress>().back().epoch, 2.0);
}

TEST(TableReader, AStepThatGoesBackPartOfTheWayIsAResume) {
  const CollectEvents got = ReadTable("step,loss\n0,1\n500,0.9\n1000,0.8\n600,0.85\n700,0.8\n");
  EXPECT_TRUE(got.Observed(kSessionStart).empty());
  EXPECT_EQ(got.Observed(kSessionResumed).size(), 1u);
}

TEST(TableReader, CountsRowsWhereNothingElseCounts) {
  const CollectEvents got = ReadTable("val_loss,loss\n1.2,1.1\n1.0,0.9\n");
  EXPECT_EQ(got.All<Scalar>().back().step, 2);
}

TEST(TableReader, ReadsPaddingQuotesOtherSeparatorsAndTensors) {
  const CollectEvents padded =
      ReadTable("       epoch,   train/box_loss,  metrics/mAP50(B)\n     1,   0.5,   nan\n");
  EXPECT_EQ(padded.Values("train/box_loss"), std::vector<double>{0.5});
  EXPECT_TRUE(std::isnan(padded.Values("metrics/mAP50(B)").at(0)));
  const CollectEvents semicolon = ReadTable("step;loss\n1;0,5\n2;0,25\n");
  EXPECT_EQ(semicolon.Values("loss"), (std::vector<double>{0.5, 0.25}));
  const CollectEvents quoted = ReadTable("\"step\",\"loss\"\n1,\"tensor(0.5, device='cuda:0')\"\n");
  EXPECT_EQ(quoted.Values("loss"), std::vector<double>{0.5});
  const CollectEvents tabs = ReadTable("step\tloss\r\n1\tinf\r\n");
  EXPECT_TRUE(std::isinf(tabs.Values("loss").at(0)));
}

TEST(TableReader, TakesAHeaderThatComesAgainWithMoreColumns) {
  const CollectEvents got = ReadTable("epoch,loss\n0,1\nepoch,loss,val_loss\n1,0.9,1.5\n");
  EXPECT_EQ(got.Values("loss"), (std::vector<double>{1, 0.9}));
  EXPECT_EQ(got.Values("val_loss"), std::vector<double>{1.5});
}

TEST(TableReader, LeavesOutTheFieldThatMayBeCut) {
  const CollectEvents got = ReadTable("epoch,loss,val_loss\n0,1,1\n1,0.9,0.12");
  EXPECT_EQ(got.Values("loss"), (std::vector<double>{1, 0.9}));
  EXPECT_EQ(got.Values("val_loss"), std::vector<double>{1});
  EXPECT_EQ(got.All<TextEnd>().at(0).kind, TextEnd::Kind::kMidLine);
}

TEST(TableReader, CountsWhatItCannotRead) {
  const CollectEvents got = ReadTable("epoch,loss,note\n0,1,fine\n1,0.9,fine,7\n");
  EXPECT_EQ(got.Dropped("import.csv_bad_field"), 2);
  EXPECT_EQ(got.Dropped("import.csv_extra_field"), 1);
}

TEST(TableReader, SaysSoWhenThereIsNoPoint) {
  EXPECT_EQ(ReadTable("epoch,loss\n").Observed(kMetricsEmpty).size(), 1u);
  EXPECT_EQ(ReadTable("").Observed(kMetricsEmpty).size(), 1u);
}

TEST(TableReader, ACutFileGivesNoMoreThanTheWholeOne) {
  const std::string whole =
      "epoch,step,loss,val_loss\n0,10,2.5e-1,\n0,20,1.25,3.5\n1,30,nan,-inf\n";
  const std::size_t points = ReadTable(whole).All<Scalar>().size();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const CollectEvents got = ReadTable(std::string_view(whole).substr(0, size), 5);
    EXPECT_LE(got.All<Scalar>().size(), points) << "cut at byte " << size;
    EXPECT_TRUE(got.Observed(kSessionStart).empty()) << "cut at byte " << size;
  }
}

TEST(LooksLikeTable, TellsTablesFromLogs) {
  EXPECT_TRUE(LooksLikeTable("epoch,loss", "0,1.5"));
  EXPECT_TRUE(LooksLikeTable(",loss,acc", "0,1.5,0.2"));
  EXPECT_TRUE(LooksLikeTable("loss", "0.5"));
  EXPECT_FALSE(LooksLikeTable("0,1.5", "1,1.4"));
  EXPECT_FALSE(LooksLikeTable("Epoch 1, starting", "Epoch 2, starting"));
  EXPECT_FALSE(LooksLikeTable("Loading data, please wait", ""));
  EXPECT_FALSE(LooksLikeTable("loss 0.5", "loss 0.4"));
}

}  // namespace
}  // namespace whystop
