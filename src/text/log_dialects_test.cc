#include <gtest/gtest.h>

#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

#include "model/collect_events.h"
#include "text/log_reader.h"

namespace whystop {
namespace {

CollectEvents ReadAll(const std::string& log) {
  CollectEvents kept;
  LogReader reader("log", kept, {.text_end = true});
  reader.Feed(log, RunTime{});
  reader.Finish(RunTime{}, std::nullopt);
  return kept;
}

int SessionsOf(const CollectEvents& kept) {
  int sessions = 1;
  for (const Observation& seen : kept.All<Observation>()) {
    sessions += seen.kind == "session-start" ? 1 : 0;
  }
  return sessions;
}

/// results.txt of YOLO names no column, and counts from 0 to the number that it prints.
TEST(LogDialects, RowsOfYoloWithoutNames) {
  const auto row = [](int epoch, const char* loss) {
    return "  " + std::to_string(epoch) + "/3  9.24G  " + loss +
           "  0.02  0.004  0.07  229  640  0.49  0.46  0.41  0.29  0.07  0.04  0.01\n";
  };
  const std::string log = row(0, "0.09") + row(1, "0.08") + row(2, "0.07");
  EXPECT_EQ(ReadAll(log).All<TextEnd>().at(0).kind, TextEnd::Kind::kMidProgress);
  const CollectEvents whole = ReadAll(log + row(3, "0.06"));
  EXPECT_EQ(whole.All<TextEnd>().at(0).kind, TextEnd::Kind::kCompleted);
  EXPECT_EQ(whole.Values("train/box_loss"), (std::vector<double>{0.09, 0.08, 0.07, 0.06}));
  EXPECT_EQ(whole.Values("metrics/mAP_0.5").size(), 4u);
}

/// Paddle tells a signal below a "C++ Traceback", like an exception.
TEST(LogDialects, ASignalThatPaddleTellsIsNoException) {
  const CollectEvents kept = ReadAll(
      "Epoch 1/9, loss: 0.5\nEpoch 2/9, loss: 0.4\n\n-----\nC++ Traceback (most recent call last):\n-----\n"
      "0   paddle::framework::SignalHandle(char const*, int)\n\n-----\nError Message Summary:\n-----\n"
      "FatalError: `Segmentation fault` is detected by the operating system.\n"
      "  [SignalInfo: *** SIGSEGV (@0x0) received by PID 7 (TID 0x7) from PID 0 ***]\n");
  EXPECT_TRUE(kept.All<ExceptionSeen>().empty());
  ASSERT_EQ(kept.All<LogFact>().size(), 1u);
  EXPECT_EQ(kept.All<LogFact>().at(0).cause, "segfault");
}

/// fit() announces its epochs, evaluate() draws a bar of its own behind them: another loss, of other data.
TEST(LogDialects, AnEvaluationOfKerasIsNoPointOfTheTrainingCurve) {
  const auto bar = [](int done, int total, const char* figures) {
    const std::string mark = "\xE2\x94\x81";
    return "\r" + std::to_string(done) + "/" + std::to_string(total) + " " + mark + mark + " 0s 3ms/step - " + figures;
  };
  const std::string fit = "Epoch 1/2\n" + bar(5, 10, "loss: 2.5") + bar(10, 10, "loss: 2.0") +
                          bar(10, 10, "loss: 2.0 - val_loss: 2.2") + "\nEpoch 2/2\n" + bar(5, 10, "loss: 1.5") +
                          bar(10, 10, "loss: 1.0 - val_loss: 1.2") + "\n";
  const CollectEvents kept = ReadAll(fit + bar(3, 10, "loss: 0.3") + bar(10, 10, "loss: 0.4") + "\n");
  EXPECT_EQ(kept.Values("loss"), (std::vector<double>{2.0, 2.0, 1.0}));
  EXPECT_EQ(kept.Values("val loss"), (std::vector<double>{0.4}));
  EXPECT_EQ(kept.All<TextEnd>().at(0).kind, TextEnd::Kind::kCompleted);
  const CollectEvents brief = ReadAll("Epoch 1/2\n10/10 - 1s - loss: 2.0\nEpoch 2/2\n10/10 - 1s - loss: 1.0\n10/10 - 0s - loss: 0.4\n");
  EXPECT_EQ(brief.Values("loss"), (std::vector<double>{2.0, 1.0}));
  // Ranks that share a log draw their bars into each other's.
  const CollectEvents ranks = ReadAll("Epoch 1/1\nEpoch 1/1\n" + bar(10, 10, "loss: 2.0") + "\n" + bar(9, 10, "loss: 3.0") +
                                      "\n" + bar(10, 10, "loss: 3.1") + "\n");
  EXPECT_EQ(ranks.Values("loss"), (std::vector<double>{2.0, 3.1}));
}

/// Detectron2 and its like tell no plan, but how long it will take.
TEST(LogDialects, ACountdownThatCameTo0IsTheEnd) {
  const auto log = [](const char* format, std::initializer_list<const char*> left) {
    std::string text;
    int step = 0;
    for (const char* eta : left) {
      char line[128];
      step += 50;
      std::snprintf(line, sizeof line, format, step, 2.0 / step, eta);
      text += line;
    }
    return ReadAll(text).All<TextEnd>().at(0).kind;
  };
  const char* seconds = "step: %d, loss: %.4f, eta_seconds: %s\n";
  const char* clock = "iter: %d  total_loss: %.4f  eta: %s  lr: 1e-05\n";
  EXPECT_EQ(log(seconds, {"90.5", "60", "30", "0"}), TextEnd::Kind::kCompleted);
  EXPECT_EQ(log(clock, {"1 day, 0:00:00", "0:01:00", "0:00:30", "0:00:00"}), TextEnd::Kind::kCompleted);
  EXPECT_EQ(log(seconds, {"90", "60", "30", "10"}), TextEnd::Kind::kSilent);
  EXPECT_EQ(log(seconds, {"0", "0", "0", "0"}), TextEnd::Kind::kSilent) << "it never counted";
  EXPECT_EQ(log(seconds, {"30", "0", "30", "0"}), TextEnd::Kind::kSilent) << "it counts each epoch";
}

/// What a cluster's epilogue (seff) says of the job.
TEST(LogDialects, TheStateOfASlurmJob) {
  const std::string log = "Epoch 1/9, loss: 0.5\nEpoch 2/9, loss: 0.4\nJob ID: 12\nState: ";
  const CollectEvents whole = ReadAll(log + "COMPLETED (exit code 0)\nCores: 4\n");
  EXPECT_EQ(whole.All<TextEnd>().at(0).kind, TextEnd::Kind::kCompleted);
  EXPECT_EQ(ReadAll(log + "TIMEOUT (exit code 0)\n").All<LogFact>().at(0).cause, "scheduler-time-limit");
}

TEST(LogDialects, ANumberGluedToItsEpoch) {
  std::string log;
  for (int epoch = 0; epoch < 4; ++epoch) {
    log += "TRAIN in epoch " + std::to_string(epoch) + ", loss = 0." + std::to_string(9 - epoch) +
           "\nTEST in epoch" + std::to_string(epoch) + ", loss = 2." + std::to_string(epoch) + "\n";
  }
  int held_out = 0;
  for (const Scalar& point : ReadAll(log).All<Scalar>()) {
    held_out += point.role == SeriesRole::kValidationLoss ? 1 : 0;
    EXPECT_EQ(point.role == SeriesRole::kValidationLoss, point.value >= 2);
  }
  EXPECT_EQ(held_out, 4);
  EXPECT_TRUE(ReadAll("saved model_epoch24.pth\n").All<Progress>().empty());
}

TEST(LogDialects, ThePostscriptOfALsfReportIsNoFurtherRun) {
  const std::string report =
      "Exited with exit code 1.\n\nThe output (if any) is above this job summary.\n\n\nPS:\n\n"
      "Read file <job.err> for stderr output of this job.\n";
  const std::string run = "Epoch 1/2, loss: 0.5\nEpoch 2/2, loss: 0.4\n";
  EXPECT_EQ(SessionsOf(ReadAll(run + report)), 1);
  EXPECT_EQ(SessionsOf(ReadAll(run + report + run + report)), 2);
}

/// XGBoost and LightGBM count rounds in brackets; several boosters of one script count from the start each, and the best
/// round is told once more.
TEST(LogDialects, RoundsOfBoostingAreSteps) {
  const auto booster = [](int rounds) {
    std::string log;
    for (int round = 0; round < rounds; ++round) {
      log += "[" + std::to_string(round) + "]\ttrain-rmse:" + std::to_string(90 - round) + ".5\tvalidation-rmse:95.5\n";
    }
    return log;
  };
  const CollectEvents one = ReadAll(booster(30) + "Stopping. Best iteration:\n[12]\ttrain-rmse:78.5\tvalidation-rmse:95.5\n");
  EXPECT_EQ(SessionsOf(one), 1);
  EXPECT_EQ(one.All<Progress>().back().step, 29);
  EXPECT_EQ(SessionsOf(ReadAll(booster(30) + booster(20) + booster(40))), 3);
}

TEST(LogDialects, ATableWithCommasBetweenOtherLines) {
  const CollectEvents kept = ReadAll(
      "Layer (type)   Param #\n,loss,acc,val_loss,val_acc\n0,0.68,0.81,0.55,0.85\n1,0.53,0.85,0.52,0.86\n"
      "2,0.50,0.85,0.49,0.86\n\nResults:\n1,2,3\n");
  EXPECT_EQ(kept.Values("loss"), (std::vector<double>{0.68, 0.53, 0.50}));
  EXPECT_EQ(kept.Values("val_loss"), (std::vector<double>{0.55, 0.52, 0.49}));
  EXPECT_TRUE(ReadAll("name,loss,kind\nresnet,0.5,big\nvgg,0.6,big\n").All<Scalar>().empty());
}

/// Standard output may come out only at the exit, a logger's lines do not: a failed start stands in the log of another run.
TEST(LogDialects, ALoggersFiguresComeAfterTheTracebackAboveThem) {
  std::string log = "Traceback (most recent call last):\n  File \"run.py\", line 3, in <module>\n    main()\nRuntimeError: address already in use\n";
  for (int epoch = 1; epoch < 6; ++epoch) {
    log += "2025-02-04 22:5" + std::to_string(epoch) + ":23,617 INFO: epoch: " + std::to_string(epoch) + " loss: 0.5" + std::to_string(9 - epoch) + "\n";
  }
  const auto exceptions = ReadAll(log).All<ExceptionSeen>();
  ASSERT_EQ(exceptions.size(), 1u);
  EXPECT_FALSE(exceptions[0].ended_process);
}

}  // namespace
}  // namespace whystop
