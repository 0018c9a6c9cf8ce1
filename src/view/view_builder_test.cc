#include "view/view_builder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "view/pace.h"

namespace whystop {
namespace {

Scalar Loss(std::int64_t step, double value) {
  Scalar scalar;
  scalar.series = "loss";
  scalar.role = SeriesRole::kTrainLoss;
  scalar.step = step;
  scalar.value = value;
  return scalar;
}

TEST(ViewBuilder, ShowsLossesFirstAndBoundsTheirNumber) {
  ViewBuilder builder;
  for (int i = 0; i < 3000; ++i) {
    Scalar other;
    other.series = "a" + std::to_string(i);
    builder.Push({std::chrono::seconds(i), other});
  }
  ViewBuilder with_loss;
  with_loss.Push({std::chrono::seconds(1), [] {
                    Scalar other;
                    other.series = "a";
                    return other;
                  }()});
  with_loss.Push({std::chrono::seconds(2), Loss(1, 2)});
  const RunView many = builder.Build({});
  EXPECT_LE(many.series.size(), 64U);
  EXPECT_EQ(static_cast<std::int64_t>(many.series.size()) + many.series_left_out, 3000);
  EXPECT_EQ(with_loss.Build({}).series.front().name, "loss");
}

TEST(MainSeries, IsTheOneThatDecidedWhateverItsRole) {
  ViewBuilder builder;
  for (int i = 0; i < 20; ++i) {
    Scalar reward = Loss(i, i);
    reward.series = "episode_reward";
    reward.role = SeriesRole::kTrainScore;
    builder.Push({std::chrono::seconds(i), reward});
    builder.Push({std::chrono::seconds(i), Loss(i, 0.5)});
  }
  RunView view = builder.Build({});
  EXPECT_EQ(MainSeries(view)->name, "loss") << "nobody judged";
  view.decided_by = "episode_reward";
  EXPECT_EQ(MainSeries(view)->name, "episode_reward");
  EXPECT_EQ(LossSeries(view)->name, "loss");
  view.decided_by = "a series that is not shown";
  EXPECT_EQ(MainSeries(view)->name, "loss");
}

TEST(ViewBuilder, KillsEpochsAndEndsAreMarked) {
  ViewBuilder builder;
  Progress progress;
  progress.epoch = 1;
  builder.Push({std::chrono::seconds(1), progress});
  progress.epoch = 1.5;
  builder.Push({std::chrono::seconds(2), progress});
  progress.epoch = 2;
  builder.Push({std::chrono::seconds(3), progress});
  builder.Push({std::chrono::seconds(1), SubjectSeen{4, {Subject::Kind::kCgroup, "/train", 0}}});
  for (const std::int64_t kills : {7, 7, 8}) {
    builder.Push(
        {std::chrono::seconds(4 + kills), Sample{{{4, Quantity::kCgroupOomKills, kills}}}});
  }
  std::vector<std::string> kinds;
  for (const TimeMark& mark : builder.Build({}).marks) {
    kinds.push_back(mark.kind);
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"epoch", "epoch", "oom-kill"}));
}

TEST(ViewBuilder, ASignalStandsBeforeTheEndThatItCaused) {
  ViewBuilder builder;
  ProcessEnd end;
  end.is_job = true;
  SignalSeen signal;
  signal.signal = 15;
  builder.Push({std::chrono::milliseconds(2121), end});
  builder.Push({std::chrono::milliseconds(2122), signal});
  const RunView view = builder.Build({});
  ASSERT_EQ(view.marks.size(), 2U);
  EXPECT_EQ(view.marks[0].kind, "signal");
  EXPECT_EQ(view.marks[1].kind, "end");
}

TEST(ViewBuilder, CountersBecomeRatesAndRepeatedValuesHoldStill) {
  ViewBuilder builder;
  builder.Push({RunTime{}, SubjectSeen{1, {Subject::Kind::kTree, "", 0}}});
  builder.Push({std::chrono::seconds(1), Sample{{{1, Quantity::kTreeCpuMs, 1000}}}});
  builder.Push({std::chrono::seconds(2), Sample{{{1, Quantity::kTreeCpuMs, 3000}}}});
  builder.Push({std::chrono::seconds(3), Sample{}});
  const RunView view = builder.Build({});
  ASSERT_EQ(view.resources.size(), 1U);
  const auto& buckets = view.resources[0].line.buckets();
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].Mean(), 2);
  EXPECT_EQ(buckets[1].Mean(), 0);
}

TEST(ViewBuilder, AFigureWithoutAStepStandsAtTheLastStepOfItsFile) {
  ViewBuilder builder;
  Scalar loss = Loss(500, 2);
  loss.place.file = "train.log";
  Scalar held_out = loss;
  held_out.series = "validation loss";
  held_out.role = SeriesRole::kValidationLoss;
  held_out.step.reset();
  Scalar elsewhere = held_out;
  elsewhere.place.file = "other.log";
  for (const Scalar& scalar : {loss, held_out, elsewhere}) {
    builder.Push({RunTime{}, scalar});
  }
  const RunView view = builder.Build({});
  ASSERT_EQ(view.series.size(), 3U);
  for (const SeriesLine& line : view.series) {
    const bool told = line.file == "train.log";
    EXPECT_EQ(line.has_steps, told);
    EXPECT_EQ(line.line.buckets().front().x, told ? 500 : 1);
  }
}

TEST(ViewBuilder, TheLastLineOfATracebackIsOneMark) {
  ViewBuilder builder;
  LogFact fact;
  fact.role = LogFact::Role::kRoot;
  fact.line = "torch.OutOfMemoryError: CUDA out of memory.";
  builder.Push({RunTime{}, fact});
  ExceptionSeen exception;
  exception.type = "torch.OutOfMemoryError";
  exception.message = "CUDA out of memory.";
  builder.Push({RunTime{}, exception});
  EXPECT_EQ(builder.Build({}).marks.size(), 1U);
}

TEST(ViewBuilder, MemoryOfStrangersIsNotDrawnBesideTheJobs) {
  ViewBuilder builder;
  constexpr SubjectId kJob = 1, kContainer = 2, kLimited = 3;
  builder.Push({RunTime{}, SubjectSeen{kJob, {Subject::Kind::kTree, "", 0}}});
  builder.Push({RunTime{}, SubjectSeen{kContainer, {Subject::Kind::kCgroup, "/container", 0}}});
  builder.Push({RunTime{}, SubjectSeen{kLimited, {Subject::Kind::kCgroup, "/container/job", 0}}});
  builder.Push({std::chrono::seconds(1), Sample{{{kJob, Quantity::kTreeRssBytes, 100},
                                                 {kContainer, Quantity::kCgroupFileBytes, 100000},
                                                 {kLimited, Quantity::kCgroupFileBytes, 20},
                                                 {kLimited, Quantity::kCgroupMemoryBytes, 120},
                                                 {kLimited, Quantity::kCgroupMemoryLimitBytes, 128}}}});
  std::vector<std::string> labels;
  for (const ResourceLine& line : builder.Build({}).resources) {
    labels.push_back(line.label);
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"job resident", "control group /container/job",
                                              "control group /container/job page cache"}));
}

TEST(ViewBuilder, ASecondSessionOfOneLogStartsAnew) {
  ViewBuilder builder;
  builder.Push({RunTime{}, Loss(100, 5)});
  Observation session;
  session.kind = "session-start";
  builder.Push({RunTime{}, session});
  builder.Push({RunTime{}, Loss(1, 9)});
  const RunView view = builder.Build({});
  ASSERT_EQ(view.series.size(), 1U);
  EXPECT_EQ(view.series[0].line.points(), 1);
  EXPECT_FALSE(view.timed);
}

TEST(HeatMap, BoundsStepsAndTensorsAndKeepsWhatIsNotFinite) {
  HeatMap heat;
  for (int step = 0; step < 5000; ++step) {
    TensorStats stats;
    stats.what = TensorStats::What::kGradient;
    stats.tensor = "layer" + std::to_string(step % 400);
    stats.step = step;
    stats.count = 4;
    stats.sum_squares = 16;
    stats.nan_count = step == 2400 ? 1 : 0;
    heat.Push(stats);
  }
  EXPECT_EQ(heat.rows().size(), HeatMap::kTensorsMax);
  EXPECT_EQ(heat.tensors_left_out(), 400 - static_cast<std::int64_t>(HeatMap::kTensorsMax));
  const auto& cells = heat.rows()[0].cells[HeatMap::kGradients];
  EXPECT_LE(cells.size(), HeatMap::kColumnsMax);
  EXPECT_TRUE(cells[static_cast<std::size_t>(2400 / heat.steps_a_column())].not_finite);
  EXPECT_EQ(cells[0].size, 2);
}

TEST(PaceOf, TellsRateAndTimeLeft) {
  ViewBuilder builder;
  Progress progress;
  progress.steps_planned = 1000;
  for (int step = 1; step <= 100; ++step) {
    progress.step = step;
    builder.Push({std::chrono::seconds(step), progress});
    builder.Push({std::chrono::seconds(step), Loss(2 * step, 1)});
  }
  const Pace pace = PaceOf(builder.Build({}));
  EXPECT_NEAR(*pace.steps_a_second, 2, 1e-9);
  EXPECT_NEAR(*pace.seconds_left, 450, 1e-6);
}

}  // namespace
}  // namespace whystop
