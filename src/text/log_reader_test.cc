#include "text/log_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace whystop {
namespace {

struct Kept : EventSink {
  void Push(const Event& event) override { events.push_back(event); }
  template <typename T>
  std::vector<T> All() const {
    std::vector<T> all;
    for (const Event& event : events) {
      if (const T* body = event.As<T>()) {
        all.push_back(*body);
      }
    }
    return all;
  }
  std::vector<Event> events;
};

Kept Read(std::string_view log, std::size_t chunk = 1 << 20) {
  Kept kept;
  LogReader reader("log", kept, {.text_end = true});
  for (std::size_t at = 0; at < log.size(); at += chunk) {
    reader.Feed(log.substr(at, chunk), RunTime{});
  }
  reader.Finish(RunTime{}, std::nullopt);
  return kept;
}

TextEnd::Kind EndOf(const Kept& kept) { return kept.All<TextEnd>().at(0).kind; }

constexpr std::string_view kTraceback =
    "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    "
    "main()\nRuntimeError: boom\n";

std::string Epochs(int from, int to, int of) {
  std::string log;
  for (int epoch = from; epoch <= to; ++epoch) {
    log += "Epoch [" + std::to_string(epoch) + "/" + std::to_string(of) +
           "], Train Loss: " + std::to_string(1.0 / epoch) + "\n";
  }
  return log;
}

TEST(LogReader, TextGluedToABarIsALineOfItsOwn) {
  const Kept kept = Read(
      "\r52%|##5  | 260/500 [11:57<11:22, 2.84s/it]slurmstepd: error: *** JOB 1 ON n CANCELLED AT "
      "2022-10-13T04:10:12 DUE TO TIME LIMIT ***");
  const auto facts = kept.All<LogFact>();
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].cause, "scheduler-time-limit");
  EXPECT_TRUE(facts[0].fatal);
  const auto progress = kept.All<Progress>();
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress.back().step, 260);
  EXPECT_EQ(progress.back().steps_planned, 500);
}

SeriesRole RoleIn(const Kept& kept, std::string_view series) {
  SeriesRole role = SeriesRole::kOther;
  for (const Scalar& scalar : kept.All<Scalar>()) {
    role = scalar.series == series ? scalar.role : role;
  }
  return role;
}

TEST(LogReader, WhatIsNamedAfterItsDataAloneIsTheLossBesideAScore) {
  const Kept kept = Read("epoch 1 train 0.61 val 0.72 acc 0.70\nepoch 2 train 0.32 val 0.91 acc 0.71\n");
  EXPECT_EQ(RoleIn(kept, "train"), SeriesRole::kTrainLoss);
  EXPECT_EQ(RoleIn(kept, "val"), SeriesRole::kValidationLoss);
  const Kept alone = Read("epoch 1 train 0.61 val 0.72\nepoch 2 train 0.82 val 0.81\n");
  EXPECT_NE(RoleIn(alone, "train"), SeriesRole::kTrainLoss);
}

TEST(LogReader, AHeadingNamesTheNumbersOfEachSet) {
  const Kept kept = Read("epoch 1 | loss: train 0.61 val 0.72 | accuracy: train 0.50, val 0.45\n"
                         "epoch 2 | loss: train 0.41 val 0.62 | accuracy: train 0.70, val 0.65\n");
  EXPECT_EQ(RoleIn(kept, "train loss"), SeriesRole::kTrainLoss);
  EXPECT_EQ(RoleIn(kept, "val loss"), SeriesRole::kValidationLoss);
  EXPECT_EQ(RoleIn(kept, "train accuracy"), SeriesRole::kTrainScore);
  EXPECT_EQ(RoleIn(kept, "val accuracy"), SeriesRole::kValidationScore);
  const Kept other = Read("epoch 1 time: train 12.1 val 1.2\nepoch 2 time: train 12.3 val 1.1\n");
  EXPECT_EQ(RoleIn(other, "train"), SeriesRole::kOther);
}

TEST(LogReader, ManyBarsMayStandInOneLine) {
  std::string log;
  for (int step = 0; step <= 50; ++step) {
    log += "Training (epoch 0 / 20):  1%|#  | " + std::to_string(step) +
           "/157 [00:15<41:21, 15.91s/it, loss=" + std::to_string(9.5 - step * 0.1) + ", lr=0.02]";
  }
  const Kept kept = Read(log + "Killed\n");
  EXPECT_EQ(kept.All<Progress>().back().step, 50);
  EXPECT_EQ(kept.All<LogFact>().size(), 1U);
  EXPECT_GE(kept.All<Scalar>().size(), 50U);
}

TEST(LogReader, ASurvivedExceptionEndsNothing) {
  const Kept kept = Read(Epochs(1, 3, 20) + std::string(kTraceback) + "\n" + Epochs(4, 20, 20));
  const auto exceptions = kept.All<ExceptionSeen>();
  ASSERT_EQ(exceptions.size(), 1U);
  EXPECT_FALSE(exceptions[0].ended_process);
  EXPECT_EQ(EndOf(kept), TextEnd::Kind::kCompleted);
}

TEST(LogReader, AnExceptionAtTheEndEndsTheProcess) {
  const Kept kept =
      Read(Epochs(1, 3, 20) + std::string(kTraceback) + "wandb: Synced 5 W&B file(s)\n");
  const auto exceptions = kept.All<ExceptionSeen>();
  ASSERT_EQ(exceptions.size(), 1U);
  EXPECT_TRUE(exceptions[0].ended_process);
}

/// Standard error is written at once, standard output when its buffer is full or the program ends.
TEST(LogReader, OutputFlushedAtExitDoesNotSurviveTheException) {
  const Kept first = Read(std::string(kTraceback) + Epochs(1, 9, 20));
  ASSERT_EQ(first.All<ExceptionSeen>().size(), 1U);
  EXPECT_TRUE(first.All<ExceptionSeen>()[0].ended_process);
  EXPECT_EQ(first.All<ExceptionSeen>()[0].message, "boom");
  EXPECT_EQ(first.All<ExceptionSeen>()[0].last_line, 4);
  const Kept in_two = Read(Epochs(1, 5, 20) + "Epoch [6/20], Train Lo" + std::string(kTraceback) +
                           "ss: 0.2\n" + Epochs(7, 12, 20));
  ASSERT_EQ(in_two.All<ExceptionSeen>().size(), 1U);
  EXPECT_TRUE(in_two.All<ExceptionSeen>()[0].ended_process);
}

TEST(LogReader, MoreThanABufferOrABarSurvivesTheException) {
  const Kept long_after = Read(std::string(kTraceback) + Epochs(1, 400, 500));
  EXPECT_FALSE(long_after.All<ExceptionSeen>()[0].ended_process);
  const Kept whole_plan = Read(std::string(kTraceback) + Epochs(1, 5, 5));
  EXPECT_FALSE(whole_plan.All<ExceptionSeen>()[0].ended_process);
  std::string bars = std::string(kTraceback);
  for (int step = 1; step < 6; ++step) {
    bars += " 3%|# | " + std::to_string(step) + "/100 [00:01<00:09, 1.0it/s, loss=0.5]\r";
  }
  EXPECT_FALSE(Read(bars).All<ExceptionSeen>()[0].ended_process);
}

TEST(LogReader, AnExceptionAfterThePlannedEndIsTheEnd) {
  const std::string done = Epochs(1, 5, 9) + "Training finished\n";
  EXPECT_EQ(EndOf(Read(done)), TextEnd::Kind::kCompleted);
  EXPECT_NE(EndOf(Read(done + std::string(kTraceback))), TextEnd::Kind::kCompleted);
  EXPECT_EQ(EndOf(Read(done + "Exception in thread Thread-3:\n" + std::string(kTraceback))),
            TextEnd::Kind::kCompleted);
  EXPECT_EQ(EndOf(Read(done + "Error in atexit._run_exitfuncs:\n" + std::string(kTraceback))),
            TextEnd::Kind::kCompleted);
}

TEST(LogReader, TrainingAfterAPlannedEndIsAnotherStage) {
  EXPECT_EQ(EndOf(Read(Epochs(1, 5, 90) + "Training finished\n" + Epochs(6, 30, 90))),
            TextEnd::Kind::kMidProgress);
}

TEST(LogReader, ACommonPhrasePassedOnAsInformationIsNoFact) {
  const std::string phrase = "No space left on device of thought\n";
  EXPECT_TRUE(Read("INFO:root:sample: " + phrase).All<LogFact>().empty());
  EXPECT_EQ(Read("ERROR:root:save: " + phrase).All<LogFact>().size(), 1U);
  EXPECT_EQ(Read("tee: train.log: " + phrase).All<LogFact>().size(), 1U);
}

TEST(LogReader, ABarDrawnAgainAsItWasIsNoPoint) {
  const std::string bar = "Epoch 0:  3%|# | 3/100 [00:01<00:09, 1.0it/s, loss=0.5]";
  EXPECT_EQ(Read(bar + "\n" + std::string(kTraceback) + bar + "\n").All<Scalar>().size(), 1U);
  const std::string fifth = "Epoch 5:  3%|# | 3/100 [00:01<00:09, 1.0it/s, loss=0.5]\n";
  EXPECT_EQ(Read(fifth + "stopped\n" + fifth).All<Scalar>().size(), 1U);
}

TEST(LogReader, ASurvivedFailureDoesNotMakeTheNextOneAnotherRun) {
  const std::string retry = "WARNING skipping: CUDA out of memory. Tried to allocate 2.34 GiB\n";
  const Kept kept =
      Read(Epochs(1, 10, 40) + retry + Epochs(11, 20, 40) + retry + Epochs(21, 30, 40));
  for (const Observation& seen : kept.All<Observation>()) {
    EXPECT_NE(seen.kind, "session-start");
  }
}

TEST(LogReader, ATracebackPrintedTwiceComesOnceWithItsRank) {
  std::string again;
  std::string_view rest = kTraceback;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n') + 1;
    again += "[rank1]: " + std::string(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  const auto exceptions = Read(std::string(kTraceback) + again).All<ExceptionSeen>();
  ASSERT_EQ(exceptions.size(), 1U);
  EXPECT_EQ(exceptions[0].rank, 1);
}

/// Ranks that write at once tear each other's tracebacks apart; a launcher says that one failed.
TEST(LogReader, AnExceptionsLineIsEnoughWhereALauncherSaysThatARankFailed) {
  const std::string torn = Epochs(1, 3, 20) + "^ ^  ^^\nKeyError: 'lr'\n";
  const std::string launcher =
      "E0608 19:04:45.368000 1029 torch/distributed/elastic/multiprocessing/api.py:869] failed "
      "(exitcode: 1) local_rank: 0 (pid: 77) of binary: python\n";
  const auto exceptions = Read(torn + launcher).All<ExceptionSeen>();
  ASSERT_EQ(exceptions.size(), 1U);
  EXPECT_EQ(exceptions[0].type, "KeyError");
  EXPECT_EQ(exceptions[0].message, "'lr'");
  EXPECT_EQ(exceptions[0].place.line, 5);
  EXPECT_TRUE(exceptions[0].ended_process);
  EXPECT_TRUE(Read(torn + "a\nb\nc\n").All<ExceptionSeen>().empty());
  EXPECT_EQ(Read(torn).All<ExceptionSeen>().size(), 1U);  // Nothing came after it.
  EXPECT_TRUE(Read(torn + Epochs(4, 9, 20) + launcher).All<ExceptionSeen>().empty());
  EXPECT_EQ(Read(torn + std::string(kTraceback) + launcher).All<ExceptionSeen>().at(0).type,
            "RuntimeError");
  const auto of_rank =
      Read("[rank3]:     return f(x)\n[rank3]: KeyError: 'x'\n").All<ExceptionSeen>();
  ASSERT_EQ(of_rank.size(), 1U);
  EXPECT_EQ(of_rank[0].rank, 3);
  EXPECT_TRUE(of_rank[0].ended_process);
}

TEST(LogReader, AppendedRunsAreAnnounced) {
  const Kept kept = Read("nohup: ignoring input\n" + Epochs(1, 5, 5) + "nohup: ignoring input\n" +
                         Epochs(1, 2, 5));
  int sessions = 0;
  for (const Observation& seen : kept.All<Observation>()) {
    sessions += seen.kind == "session-start" ? 1 : 0;
  }
  EXPECT_EQ(sessions, 1);
  EXPECT_EQ(EndOf(kept), TextEnd::Kind::kMidProgress);
}

std::string TracebackAt(int line, std::string_view error) {
  return "Traceback (most recent call last):\n  File \"train.py\", line " + std::to_string(line) +
         ", in <module>\n    main()\n" + std::string(error) + "\n";
}

constexpr std::string_view kRefusal = "  File \"train.py\", line 9\n    x = = 3\n        ^\nSyntaxError: invalid syntax\n";

std::vector<std::string> EndingTypes(const Kept& kept) {
  std::vector<std::string> types;
  for (const Event& event : kept.events) {
    const auto* seen = event.As<Observation>();
    const auto* exception = event.As<ExceptionSeen>();
    if (seen != nullptr && seen->kind == "session-start") {
      types.clear();
    } else if (exception != nullptr && exception->ended_process) {
      types.push_back(exception->type);
    }
  }
  return types;
}

TEST(LogReader, TheSchedulersWordOverrulesAPlanThatWasMet) {
  const std::string cancelled =
      "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2023-12-20T10:50:47 DUE TO TIME LIMIT ***\n";
  EXPECT_EQ(EndOf(Read(Epochs(1, 10, 10))), TextEnd::Kind::kCompleted);
  EXPECT_NE(EndOf(Read(Epochs(1, 10, 10) + "Evaluating on val.\n" + cancelled)), TextEnd::Kind::kCompleted);
  EXPECT_NE(EndOf(Read(Epochs(1, 10, 10) + "Training complete\n" + cancelled)), TextEnd::Kind::kCompleted);
  // Of a job before it says nothing about the last one.
  EXPECT_EQ(EndOf(Read(Epochs(1, 4, 10) + cancelled + Epochs(1, 10, 10))), TextEnd::Kind::kCompleted);
}

TEST(LogReader, TheLastAttemptDecides) {
  const std::string first = TracebackAt(30, "KeyError: 'x'");
  EXPECT_EQ(EndingTypes(Read(first + TracebackAt(30, "ValueError: y"))), std::vector<std::string>{"ValueError"});
  EXPECT_EQ(EndingTypes(Read(first + std::string(kRefusal))), std::vector<std::string>{"SyntaxError"});
  EXPECT_EQ(EndingTypes(Read(Epochs(1, 4, 9) + first + TracebackAt(2, "ImportError: z"))),
            std::vector<std::string>{"ImportError"});
}

TEST(LogReader, WhatFollowsATracebackOfTheSameRunIsNoOtherAttempt) {
  // After training a second traceback of the same place is another rank's, or the same one again.
  EXPECT_EQ(EndingTypes(Read(Epochs(1, 4, 9) + TracebackAt(30, "KeyError: 'x'") + TracebackAt(30, "OSError: y"))).front(),
            "KeyError");
  // TorchScript quotes the source in its message.
  EXPECT_EQ(EndingTypes(Read(TracebackAt(30, "RuntimeError: \nUnknown type name 'T':") +
                             "  File \"model.py\", line 12\n    def forward(x: T):\n                ~ <--- HERE\n")),
            std::vector<std::string>{"RuntimeError"});
  const std::string ranked = "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"train.py\", line 5, in "
                             "<module>\n[rank0]:     main()\n[rank0]: KeyError: 'x'\n";
  EXPECT_EQ(EndingTypes(Read(ranked + TracebackAt(5, "OSError: y"))).front(), "KeyError");
}

TEST(LogReader, RanksThatFailDifferentlyBeforeTrainingAreOneAttempt) {
  const std::string two = TracebackAt(30, "FileNotFoundError: no rank0.npy") + TracebackAt(30, "RuntimeError: connection reset");
  const std::string report = "E1118 torch/distributed/elastic/multiprocessing/api.py:833] failed (exitcode: 1) local_rank: 0 (pid: 42) of binary: python\n";
  const Kept ranks = Read(two + report);
  EXPECT_EQ(EndingTypes(ranks), (std::vector<std::string>{"FileNotFoundError", "RuntimeError"}));
  EXPECT_TRUE(ranks.All<Observation>().empty());
  const Kept alike = Read(TracebackAt(30, "KeyError: 'x'") + TracebackAt(30, "KeyError: 'x'") + report);
  EXPECT_EQ(EndingTypes(alike), std::vector<std::string>{"KeyError"});
  EXPECT_EQ(Read(two + "Using device: cpu\n").All<Observation>().size(), 1u);
  EXPECT_EQ(Read(two + TracebackAt(31, "KeyError: 'z'")).All<Observation>().size(), 2u);
}

TEST(LogReader, ReportsOfABatchSystemAreNoFirstLinesOfAJob) {
  const std::string rule = "------------------------------\n";
  const std::string report = "Sender: LSF System <lsfadmin@n1>\nSubject: Job 1: <fit> in cluster <dcc>\n\n"
                             "Job <fit> was submitted from host <n2> by user <me> in cluster <dcc>\n"
                             "Your job looked like:\n\nExited with exit code 1.\n\nResource usage summary:\n\n"
                             "The output (if any) is above this job summary.\n\n";
  EXPECT_EQ(EndingTypes(Read("    Hours : 24\n" + rule + report + std::string(kRefusal) + "\n" + rule + report)),
            std::vector<std::string>{"SyntaxError"});
}

TEST(LogReader, WhatAHelperThreadRaisesEndsNothing) {
  const std::string thread =
      "Traceback (most recent call last):\n  File \"/usr/lib/python3.10/threading.py\", line 1016, in "
      "_bootstrap_inner\n    self.run()\nOSError: handle is closed\n";
  const Kept kept = Read(Epochs(1, 10, 20) + "Exception in thread Thread-1:\n\nEnd training....\n" + thread);
  EXPECT_TRUE(EndingTypes(kept).empty());
  EXPECT_EQ(EndOf(kept), TextEnd::Kind::kCompleted);
}

TEST(LogReader, CountersThatStartOverAreAnotherRun) {
  const Kept kept = Read(Epochs(1, 5, 9) + "hello\n" + Epochs(1, 2, 9));
  bool announced = false;
  for (const Event& event : kept.events) {
    const Observation* seen = event.As<Observation>();
    announced = announced || (seen != nullptr && seen->kind == "session-start");
  }
  EXPECT_TRUE(announced);
  EXPECT_EQ(kept.All<Progress>().back().epoch, 2);
}

TEST(LogReader, EndsAreToldApart) {
  EXPECT_EQ(EndOf(Read(Epochs(1, 5, 5))), TextEnd::Kind::kCompleted);
  EXPECT_EQ(EndOf(Read(Epochs(1, 4, 5))), TextEnd::Kind::kMidProgress);
  EXPECT_EQ(EndOf(Read("loading data\nbuilding model\n")), TextEnd::Kind::kSilent);
  EXPECT_EQ(EndOf(Read("loading data\nbuilding mod")), TextEnd::Kind::kMidLine);
  EXPECT_EQ(EndOf(Read(std::string("12%|#   | 12/100 [00:10<01:00, 1.0it/s]\0\0\0\0", 43))),
            TextEnd::Kind::kNulTail);
  EXPECT_EQ(EndOf(Read("{'train_runtime': 12.5, 'train_loss': 0.5, 'epoch': 3.0}\n")),
            TextEnd::Kind::kCompleted);
}

TEST(LogReader, TheLastEpochIsOverWhenItsFiguresAreThere) {
  std::string log;
  for (int epoch = 1; epoch <= 6; ++epoch) {
    log += "Epoch " + std::to_string(epoch) + "/6\n----------\n";
    EXPECT_NE(EndOf(Read(log)), TextEnd::Kind::kCompleted);
    log += "train Loss: 0." + std::to_string(9 - epoch) + " Acc: 0.5\n";
    EXPECT_NE(EndOf(Read(log)), TextEnd::Kind::kCompleted);
    log += "val Loss: 0." + std::to_string(99 - epoch) + " Acc: 0.5\n";
  }
  EXPECT_EQ(EndOf(Read(log)), TextEnd::Kind::kCompleted);
  std::string counted;
  for (int step = 0; step < 40; ++step) {
    EXPECT_NE(EndOf(Read(counted)), TextEnd::Kind::kCompleted);
    counted += "iteration " + std::to_string(step) + "/40, loss 0.5" + std::to_string(step) + "\n";
  }
  EXPECT_EQ(EndOf(Read(counted)), TextEnd::Kind::kCompleted);
}

TEST(LogReader, FiguresMayStandBeforeABar) {
  const auto points = Read(
                          "Epoch 1/3 loss: 0.75:  30%|# | 30/100 [00:01<00:09, 10.0it/s]\r"
                          "Epoch 1/3 loss: 0.50:  40%|# | 40/100 [00:01<00:09, 10.0it/s]\r")
                          .All<Scalar>();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].role, SeriesRole::kTrainLoss);
  EXPECT_EQ(points[1].value, 0.5);
  EXPECT_EQ(points[1].step, 40);
}

TEST(LogReader, TheLastEpochIsOverWhenItsBarIsFull) {
  const std::string bar = "steps: 99%|#### | 799/800 [13:01<00:01, 1.31it/s, loss=0.08]\n";
  const std::string full = "steps: 100%|####| 800/800 [13:02<00:00, 1.31it/s, loss=0.08]\n";
  EXPECT_EQ(EndOf(Read("epoch 2/2\n" + bar)), TextEnd::Kind::kMidProgress);
  EXPECT_EQ(EndOf(Read("epoch 2/2\n" + bar + full)), TextEnd::Kind::kCompleted);
  EXPECT_EQ(EndOf(Read(Epochs(1, 5, 5) + "best model: epoch 3, loss 0.5\n")),
            TextEnd::Kind::kCompleted);
}

TEST(LogReader, TheLastEpochIsNotOverAtItsFirstStep) {
  std::string log = "epochs: 3\n";
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step <= 1000; step += 500) {
      log += "epoch: " + std::to_string(epoch) + ", batch_id: " + std::to_string(step) +
             ", loss:0." + std::to_string(9 - epoch) + "\n";
      if (epoch == 2 && step == 0) {
        EXPECT_EQ(EndOf(Read(log)), TextEnd::Kind::kMidProgress);
      }
    }
  }
  EXPECT_EQ(EndOf(Read(log)), TextEnd::Kind::kCompleted);
}

TEST(LogReader, ANumberOfEpochsAmongSettingsIsNoProgress) {
  const std::string settings = "Batch size: 4\nEpoch: 80\nOutput: /data\n";
  EXPECT_TRUE(Read(settings).All<Progress>().empty());
  const Kept kept = Read(settings + Epochs(1, 3, 80));
  EXPECT_EQ(kept.All<Progress>().back().epoch, 3);
  for (const Observation& seen : kept.All<Observation>()) {
    EXPECT_NE(seen.kind, "session-start");
  }
  // Resumed: the second one is believed.
  EXPECT_EQ(Read("Epoch: 80\nloss 0.3\nEpoch: 81\nloss 0.2\n").All<Progress>().back().epoch, 81);
}

/// fastai names its columns once.
TEST(LogReader, RowsUnderNamesAreReadByThem) {
  const auto points = Read(
                          "epoch     train_loss  valid_loss  error_rate  time\n"
                          "0         1.310000    1.290000    0.320000    00:12\n"
                          "1         1.210000    1.190000    0.220000    00:12\n")
                          .All<Scalar>();
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[3].series, "train_loss");
  EXPECT_EQ(points[3].value, 1.21);
  EXPECT_EQ(points[3].epoch, 1);
  EXPECT_EQ(points[4].role, SeriesRole::kValidationLoss);
}

/// Darknet counts its iterations where srun puts the number of a task.
TEST(LogReader, DarknetsIterationsAreSteps) {
  std::string log;
  for (int step = 9; step < 12; ++step) {
    log += " " + std::to_string(step) + ": 5.25, " + std::to_string(700 - step) +
           ".5 avg loss, 0.001300 rate, 3.26 seconds, 640 images, 9.5 hours left\n";
  }
  const auto points = Read(log).All<Scalar>();
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[4].role, SeriesRole::kTrainLoss);
  EXPECT_EQ(points[4].value, 689.5);
  EXPECT_EQ(points[4].step, 11);
  EXPECT_FALSE(points[4].rank.has_value());
  EXPECT_EQ(points[5].role, SeriesRole::kLearningRate);
  EXPECT_EQ(points[5].value, 0.0013);
  const auto broken = Read("7: -nan, -nan avg, 0.001 rate, 3.2 seconds, 64 images\n").All<Scalar>();
  ASSERT_EQ(broken.size(), 2U);
  EXPECT_TRUE(std::isnan(broken[0].value));
}

TEST(LogReader, UnknownShapesAreLearnedFromRepetition) {
  const Kept kept =
      Read("cost now: loss 3.5\ncost now: loss 3.25\ncost now: loss 3.0\ncost now: loss nan\n");
  const auto points = kept.All<Scalar>();
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].value, 3.5);
  EXPECT_EQ(points[0].place.line, 1);
  EXPECT_EQ(points[0].role, SeriesRole::kTrainLoss);
  EXPECT_TRUE(std::isnan(points[3].value));
}

TEST(LogReader, AConfigurationIsNoSeries) {
  const Kept kept =
      Read("learning_rate: 0.1\nloss_weight=1.0\nlr=0.3\nnum_epochs: 7\nfinal loss: 3.5\n");
  EXPECT_TRUE(kept.All<Scalar>().empty());
  ASSERT_FALSE(kept.All<Progress>().empty());
  EXPECT_EQ(kept.All<Progress>().back().epochs_planned, 7);
}

TEST(LogReader, StepsThatAreSaidInWordsAreAPlan) {
  const Kept kept = Read("Training model for 50000 batches (batch_size=1)...\nevaluated for 100 batches\n");
  ASSERT_EQ(kept.All<Progress>().size(), 1U);
  EXPECT_EQ(kept.All<Progress>().back().steps_planned, 50000);
}

TEST(LogReader, KerasBarsGiveOnePointAnEpoch) {
  const Kept kept = Read(
      "Epoch 1/2\n 1/61 [>...] - ETA: 1s - loss: 0.9\r61/61 [====] - 19s 316ms/step - loss: 0.5 - "
      "val_loss: 0.6\n"
      "Epoch 2/2\n 1/61 [>...] - ETA: 1s - loss: 0.8\r61/61 [====] - 19s 316ms/step - loss: 0.4 - "
      "val_loss: 0.5\n");
  const auto points = kept.All<Scalar>();
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[2].value, 0.4);
  EXPECT_EQ(points[2].epoch, 2);
  EXPECT_EQ(points[3].role, SeriesRole::kValidationLoss);
  EXPECT_EQ(EndOf(kept), TextEnd::Kind::kCompleted);
}

TEST(LogReader, UltralyticsRowsTakeTheirNamesFromTheHeader) {
  const Kept kept = Read(
      "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
      "      1/150        21G      1.385      1.094     0.8692         88       1024: 100%|####| "
      "85/85 [01:05<00:00, 1.3it/s]\n"
      "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): "
      "100%|#| 8/8 [00:05<00:00, "
      "1.4it/s]\n"
      "                   all        453        907      0.792      0.805      0.841      0.382\n");
  std::vector<std::string> names;
  for (const Scalar& point : kept.All<Scalar>()) {
    names.push_back(point.series);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"box_loss", "cls_loss", "dfl_loss", "P", "R", "mAP50",
                                             "mAP50-95"}));
  EXPECT_EQ(kept.All<Progress>().back().epochs_planned, 150);
}

/// Goal: chunking must not matter to any event. Method: one log with everything in it, in chunks of
/// many sizes.
TEST(LogReader, AnyChunkingGivesTheSameEvents) {
  const std::string log = "nohup: ignoring input\n" + Epochs(1, 4, 9) + std::string(kTraceback) +
                          std::string("x\0\0y\n\x1b[31mKilled\x1b[0m\n", 20) +
                          " 3%|# | 3/100 [00:01<00:09, 1.0it/s]Killed\n" + Epochs(1, 9, 9) +
                          "Epoch 1/2\r\n5/5 [===] - 1s - loss: nan\n";
  const Kept whole = Read(log);
  for (std::size_t chunk = 1; chunk < 40; ++chunk) {
    const Kept pieces = Read(log, chunk);
    ASSERT_EQ(pieces.events.size(), whole.events.size()) << "chunks of " << chunk;
    for (std::size_t at = 0; at < whole.events.size(); ++at) {
      ASSERT_EQ(pieces.events[at].body.index(), whole.events[at].body.index())
          << "chunks of " << chunk;
    }
  }
}

TEST(LogReader, WhoFollowsALongRunIsToldItsLastStep) {
  Kept kept;
  LogReader reader("log", kept);
  for (int step = 1; step <= 5; ++step) {
    reader.Feed("step " + std::to_string(step) + "/100000 loss 0.5\n", RunTime{});
  }
  EXPECT_EQ(kept.All<Progress>().back().step, 1);
  reader.TellProgress();
  EXPECT_EQ(kept.All<Progress>().back().step, 5);
  const std::size_t told = kept.events.size();
  reader.TellProgress();
  EXPECT_EQ(kept.events.size(), told);
}

}  // namespace
}  // namespace whystop
