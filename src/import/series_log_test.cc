#include "import/series_log.h"

#include <gtest/gtest.h>

#include "model/collect_events.h"

namespace whystop {
namespace {

RowPosition AtStep(std::int64_t step) {
  RowPosition position;
  position.step = step;
  return position;
}

SeriesRole LastRole(const CollectEvents& sink, std::string_view series) {
  SeriesRole role = SeriesRole::kOther;
  for (const Scalar& scalar : sink.All<Scalar>()) {
    role = scalar.series == series ? scalar.role : role;
  }
  return role;
}

TEST(SeriesLog, AddsUpTheTermsOfALossWithoutATotal) {
  CollectEvents sink;
  SeriesLog log("results.csv", sink);
  const auto box = log.Find("train/box_loss");
  const auto cls = log.Find("train/cls_loss");
  for (int step = 1; step <= 3; ++step) {
    log.Push(*box, 0.5 * step, AtStep(step));
    log.Push(*cls, 10.0 / step, AtStep(step));
  }
  log.Finish();
  EXPECT_EQ(sink.Values("sum of training losses"), (std::vector<double>{10.5, 6, 1.5 + 10.0 / 3}));
  EXPECT_EQ(LastRole(sink, "sum of training losses"), SeriesRole::kTrainLoss);
  EXPECT_EQ(LastRole(sink, "train/box_loss"), SeriesRole::kLossPart);
}

TEST(SeriesLog, MakesNoSumBesideATotalOrOfOneTerm) {
  CollectEvents with_total;
  SeriesLog log("a", with_total);
  for (const char* name : {"loss_a", "loss_b", "loss"}) {
    log.Find(name);
  }
  for (int step = 1; step <= 3; ++step) {
    log.Push(*log.Find("loss_a"), 1, AtStep(step));
    log.Push(*log.Find("loss_b"), 1, AtStep(step));
    log.Push(*log.Find("loss"), 2, AtStep(step));
  }
  log.Finish();
  EXPECT_TRUE(with_total.Values("sum of training losses").empty());
  EXPECT_EQ(LastRole(with_total, "loss_a"), SeriesRole::kLossPart);
  CollectEvents one_term;
  SeriesLog single("b", one_term);
  single.Push(*single.Find("nll_loss"), 1, AtStep(1));
  single.Finish();
  EXPECT_EQ(LastRole(one_term, "nll_loss"), SeriesRole::kTrainLoss);
}

TEST(SeriesLog, TermsThatNeverMeetStandForThemselves) {
  CollectEvents sink;
  SeriesLog log("c", sink);
  const auto a = log.Find("loss_a");
  const auto b = log.Find("loss_b");
  for (int step = 1; step <= 20; ++step) {
    log.Push(step % 2 == 0 ? *a : *b, 1, AtStep(step));
  }
  log.Finish();
  EXPECT_TRUE(sink.Values("sum of training losses").empty());
  EXPECT_EQ(LastRole(sink, "loss_a"), SeriesRole::kTrainLoss);
}

TEST(SeriesLog, RefusesTooManySeriesAndCountsThem) {
  CollectEvents sink;
  SeriesLog log("d", sink);
  for (std::size_t i = 0; i < SeriesLog::kSeriesMax + 5; ++i) {
    log.Find("metric" + std::to_string(i));
  }
  log.Finish();
  EXPECT_EQ(sink.Dropped("import.series_over_limit"), 5);
}

TEST(SeriesLog, FractionsOfEpochsAreNotCountedFromOne) {
  CollectEvents sink;
  SeriesLog log("e", sink);
  for (const double epoch : {0.0, 0.5, 3.0}) {
    RowPosition position;
    position.epoch = epoch;
    log.BeginRow(position);
  }
  log.Finish();
  EXPECT_EQ(sink.All<Progress>().at(0).epoch, 3.0);
}

}  // namespace
}  // namespace whystop
