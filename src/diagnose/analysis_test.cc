#include "diagnose/analysis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

namespace whystop {
namespace {

RunTime Seconds(int count) { return std::chrono::seconds(count); }

RunEnd Ended(ChildEnd end) { return {end, Seconds(10)}; }

/// A run that whystop watched, with a command and nothing else.
class WatchedRun {
 public:
  WatchedRun() {
    RunStart start;
    start.command = {"python", "train.py"};
    start.pid = 100;
    analysis_.Push({Seconds(0), start});
  }
  WatchedRun& Add(EventBody body) {
    analysis_.Push({Seconds(1), std::move(body)});
    return *this;
  }
  Verdict Judge(bool alive = false) const { return analysis_.Judge(alive); }

 private:
  Analysis analysis_;
};

/// An exception that ended the program, as a log shows it: its traceback begins and ends at these
/// lines.
ExceptionSeen EndingException(std::string type, std::string message, std::int64_t first_line,
                              std::int64_t last_line) {
  ExceptionSeen seen;
  seen.type = std::move(type);
  seen.message = std::move(message);
  seen.ended_process = true;
  seen.place = {"log", first_line};
  seen.last_line = last_line;
  return seen;
}

std::string RootOf(const Verdict& verdict) {
  return verdict.causes.empty() ? "-" : verdict.causes.front().id;
}

TEST(Analysis, WhatGuessingCostsIsToldForThePicture) {
  Analysis analysis;
  EXPECT_FALSE(analysis.LossOfGuessing());
  Observation call;
  call.kind = "loss-call";
  call.attributes = {{"function", "cross_entropy"}, {"classes", 5.0}, {"grad_enabled", 1.0}};
  call.process = 100;
  analysis.Push({Seconds(1), call});
  ASSERT_TRUE(analysis.LossOfGuessing());
  EXPECT_NEAR(*analysis.LossOfGuessing(), std::log(5), 1e-9);
}

TEST(Analysis, ExitZeroWithoutASignIsCompletedAndBlamesNobody) {
  const Verdict verdict = WatchedRun().Add(Ended(ChildEnd::Exited(0))).Judge();
  EXPECT_EQ(verdict.outcome, Outcome::kCompleted);
  EXPECT_TRUE(verdict.causes.empty());
  EXPECT_EQ(ExitCodeOf(verdict), 0);
}

TEST(Analysis, Status137AloneIsNotOutOfMemory) {
  const Verdict verdict = WatchedRun().Add(Ended(ChildEnd::Exited(137))).Judge();
  EXPECT_EQ(verdict.outcome, Outcome::kStoppedEarly);
  for (const VerdictCause& cause : verdict.causes) {
    EXPECT_EQ(cause.id.find("oom"), std::string::npos) << cause.id;
  }
}

TEST(Analysis, AKillWithACounterThatRoseIsOutOfMemory) {
  WatchedRun run;
  run.Add(SubjectSeen{1, {Subject::Kind::kCgroup, "/job", 0}});
  run.Add(
      Sample{{{1, Quantity::kCgroupOomKills, 0}, {1, Quantity::kCgroupMemoryLimitBytes, 1 << 27}}});
  run.Add(
      Sample{{{1, Quantity::kCgroupOomKills, 1}, {1, Quantity::kCgroupMemoryPeakBytes, 1 << 27}}});
  const Verdict verdict = run.Add(Ended(ChildEnd::Signaled(SIGKILL))).Judge();
  EXPECT_EQ(RootOf(verdict), "cgroup-oom-kill");
  EXPECT_EQ(verdict.exit.sent_by, "the kernel's out-of-memory killer");
}

TEST(Analysis, AKillWithFlatCountersIsSomebodyElses) {
  WatchedRun run;
  run.Add(SubjectSeen{1, {Subject::Kind::kCgroup, "/job", 0}});
  run.Add(Sample{{{1, Quantity::kCgroupOomKills, 4}}});
  run.Add(Sample{{{1, Quantity::kCgroupOomKills, 4}}});
  EXPECT_EQ(RootOf(run.Add(Ended(ChildEnd::Signaled(SIGKILL))).Judge()), "external-sigkill");
}

TEST(Analysis, AnExceptionThatTrainingSurvivedIsNoCause) {
  WatchedRun run;
  ExceptionSeen seen;
  seen.type = "OSError";
  run.Add(seen);
  for (int step = 0; step < 5; ++step) {
    run.Add(Scalar{
        "loss", SeriesRole::kTrainLoss, 1.0 / (step + 1), step, std::nullopt, std::nullopt, {}, {}, {}});
  }
  EXPECT_EQ(RootOf(run.Add(Ended(ChildEnd::Signaled(SIGTERM))).Judge()), "external-sigterm");
}

/// What a traceback says shares its fate: points of other writers may follow it.
TEST(Analysis, LinesOfAnEndingTracebackCountWhateverFollows) {
  LogFact fact;
  fact.cause = "cuda-oom";
  fact.role = LogFact::Role::kRoot;
  fact.place = {"log", 14};
  ExceptionSeen seen;
  seen.type = "RuntimeError";
  seen.place = {"log", 10};
  seen.last_line = 14;
  for (const bool ended : {true, false}) {
    seen.ended_process = ended;
    Analysis analysis;
    analysis.Push({Seconds(1), fact});
    analysis.Push({Seconds(1), seen});
    Scalar point;
    point.role = SeriesRole::kTrainLoss;
    point.place = {"log", 20};
    analysis.Push({Seconds(1), point});
    EXPECT_EQ(RootOf(analysis.Judge(false)), ended ? "cuda-oom" : "-");
  }
}

/// A rank that was left alone may abort while it shuts down, and a launcher may hear of that one first.
TEST(Analysis, AnAbortOfARankWhosePeerHadRaisedIsNoCause) {
  LogFact abort;
  abort.cause = "native-abort";
  abort.role = LogFact::Role::kConfirm;
  ExceptionSeen own;
  own.type = "ValueError";
  own.ended_process = true;
  ExceptionSeen echo = own;
  echo.type = "RuntimeError";
  echo.message = "Connection closed by peer [127.0.0.1]:14238";
  for (const bool left_alone : {true, false}) {
    Analysis analysis;
    analysis.Push({Seconds(1), own});
    if (left_alone) {
      analysis.Push({Seconds(1), echo});
    }
    analysis.Push({Seconds(2), abort});
    EXPECT_EQ(RootOf(analysis.Judge(false)), left_alone ? "uncaught-exception" : "native-abort");
  }
}

/// A launcher's report names no cause where a rank's own exception is known, in whatever order
/// ranks were printed.
TEST(Analysis, ARanksOwnExceptionComesBeforeTheLaunchersReport) {
  LogFact report;
  report.cause = "sibling-rank-failed";
  report.role = LogFact::Role::kConfirm;
  const auto raised = [](const char* type, const char* message) {
    ExceptionSeen seen;
    seen.type = type;
    seen.message = message;
    seen.ended_process = true;
    return seen;
  };
  const ExceptionSeen echo =
      raised("DistBackendError", "NCCL error: remote process exited or there was a network error");
  const ExceptionSeen own = raised("KeyError", "'cat'");
  const ExceptionSeen launcher = raised("elastic.errors.ChildFailedError", "");
  const auto judge = [&report](std::initializer_list<ExceptionSeen> exceptions) {
    Analysis analysis;
    for (const ExceptionSeen& one : exceptions) {
      analysis.Push({Seconds(1), one});
    }
    analysis.Push({Seconds(1), report});
    return analysis.Judge(false);
  };
  const Verdict known = judge({echo, own, launcher});
  EXPECT_EQ(RootOf(known), "uncaught-exception");
  EXPECT_EQ(known.outcome, Outcome::kRaised);
  EXPECT_NE(known.causes.front().evidence.front().text.find("KeyError"), std::string::npos);
  EXPECT_EQ(RootOf(judge({launcher})), "sibling-rank-failed");
  EXPECT_EQ(judge({launcher}).outcome, Outcome::kKilled);
  report.captures = {"1", "0", "4711"};
  EXPECT_EQ(judge({launcher}).outcome, Outcome::kRaised);
  report.captures = {"-11", "0", "4711"};
  EXPECT_EQ(judge({launcher}).outcome, Outcome::kCrashed);
}

TEST(Analysis, WhatTheRunLivedThroughBeforeDidNotEndIt) {
  LogFact fact;
  fact.cause = "data-file-corrupt";
  fact.role = LogFact::Role::kRoot;
  fact.line = "skipped img_17.jpg: cannot identify image file";
  const Scalar point{"loss", SeriesRole::kTrainLoss, 1.0, 7, std::nullopt, std::nullopt, {}, {}, {}};
  Analysis analysis;
  analysis.Push({Seconds(1), fact});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "data-file-corrupt");
  for (int i = 0; i < 8; ++i) {
    analysis.Push({Seconds(2), point});
  }
  fact.line = "skipped img_4.jpg: cannot identify image file";
  analysis.Push({Seconds(3), fact});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "-");
  fact.line = "PIL.UnidentifiedImageError: cannot identify image file 'img_4.jpg'";
  analysis.Push({Seconds(3), fact});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "data-file-corrupt");
}

/// One rank raises, the others wait for it until the watchdog aborts them.
TEST(Analysis, AnExceptionBeforeATimeoutOfTheOthersIsTheRoot) {
  ExceptionSeen raised = EndingException("KeyError", "'x'", 10, 14);
  LogFact timeout;
  timeout.cause = "collective-timeout";
  timeout.role = LogFact::Role::kRoot;
  timeout.place = {"log", 20};
  LogFact abort;
  abort.cause = "native-abort";
  abort.role = LogFact::Role::kConfirm;
  abort.generic = true;
  abort.place = {"log", 21};
  const auto judge = [&] {
    Analysis analysis;
    analysis.Push({Seconds(1), timeout});
    analysis.Push({Seconds(1), abort});
    analysis.Push({Seconds(1), raised});
    return analysis.Judge(false);
  };
  EXPECT_EQ(RootOf(judge()), "uncaught-exception");
  timeout.place.line = 5;
  EXPECT_EQ(RootOf(judge()), "collective-timeout");
  timeout.place.line = 20;
  raised.message = "NCCL communicator was aborted";
  EXPECT_EQ(RootOf(judge()), "collective-timeout");
}

TEST(Analysis, AStepThatSrunEndedWasNotCancelledBySomeone) {
  const auto line = [](const char* cause, LogFact::Role role, const char* text) {
    LogFact fact;
    fact.cause = cause;
    fact.role = role;
    fact.line = text;
    fact.generic = true;
    return fact;
  };
  LogFact failed = line("sibling-rank-failed", LogFact::Role::kConfirm,
                        "srun: error: n1: task 0: Exited with exit code 1");
  failed.captures = {"1"};
  const LogFact ends =
      line("sibling-rank-failed", LogFact::Role::kCascade, "srun: Terminating StepId=7.0");
  const LogFact step = line("scheduler-cancelled", LogFact::Role::kConfirm,
                            "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2024 ***");
  Analysis analysis;
  analysis.Push({Seconds(1), step});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "scheduler-cancelled");
  analysis.Push({Seconds(1), failed});
  analysis.Push({Seconds(1), ends});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "sibling-rank-failed");
  EXPECT_EQ(analysis.Judge(false).outcome, Outcome::kRaised);
  ExceptionSeen raised;
  raised.type = "KeyError";
  raised.ended_process = true;
  analysis.Push({Seconds(1), raised});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "uncaught-exception");
}

/// Slurm's daemon and the program write into one file: a few figures still come after the last word.
TEST(Analysis, FiguresOnTheirWayDoNotUndoTheSchedulersWord) {
  LogFact killed;
  killed.cause = "slurm-memory-limit";
  killed.role = LogFact::Role::kRoot;
  killed.fatal = true;
  killed.line = "slurmstepd: error: Job 7518 exceeded memory limit (626359956 > 512000000), being killed";
  Analysis analysis;
  analysis.Push({Seconds(1), killed});
  Scalar loss;
  loss.series = "loss";
  loss.role = SeriesRole::kTrainLoss;
  loss.value = 24.2;
  analysis.Push({Seconds(2), loss});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "slurm-memory-limit");
  for (int point = 0; point < 40; ++point) {
    analysis.Push({Seconds(3), loss});
  }
  EXPECT_NE(RootOf(analysis.Judge(false)), "slurm-memory-limit");
}

TEST(Analysis, AnAbortWithoutAPythonExceptionIsACrash) {
  LogFact timeout;
  timeout.cause = "collective-timeout";
  timeout.role = LogFact::Role::kRoot;
  LogFact abort;
  abort.cause = "native-abort";
  abort.role = LogFact::Role::kConfirm;
  abort.generic = true;
  Analysis analysis;
  analysis.Push({Seconds(1), timeout});
  EXPECT_EQ(analysis.Judge(false).outcome, Outcome::kRaised);
  analysis.Push({Seconds(1), abort});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "collective-timeout");
  EXPECT_EQ(analysis.Judge(false).outcome, Outcome::kCrashed);
  ExceptionSeen raised;
  raised.type = "RuntimeError";
  raised.ended_process = true;
  analysis.Push({Seconds(1), raised});
  EXPECT_EQ(analysis.Judge(false).outcome, Outcome::kRaised);
}

/// A consequence's own words are no root while something above them explains them, and the best
/// there is where the exception that ended the run says nothing else.
TEST(Analysis, AConsequenceIsTheRootWhereTheEndingExceptionSaysIt) {
  LogFact fact;
  fact.cause = "cuda-device-assert";
  fact.role = LogFact::Role::kCascade;
  fact.line = "RuntimeError: CUDA error: device-side assert triggered";
  fact.place = {"log", 14};
  ExceptionSeen ending =
      EndingException("RuntimeError", "CUDA error: device-side assert triggered", 10, 16);
  LogFact label;
  label.cause = "label-out-of-range";
  label.role = LogFact::Role::kRoot;
  label.place = {"log", 3};
  const auto judge = [](std::initializer_list<EventBody> bodies) {
    Analysis analysis;
    for (const EventBody& body : bodies) {
      analysis.Push({Seconds(1), body});
    }
    return analysis.Judge(false);
  };
  EXPECT_EQ(RootOf(judge({fact, ending})), "cuda-device-assert");
  EXPECT_EQ(RootOf(judge({label, fact, ending})), "label-out-of-range");
  EXPECT_EQ(RootOf(judge({fact})), "-");
  ending.type = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError";
  fact.cause = "sibling-rank-failed";
  fact.line = ending.type + ":";
  EXPECT_EQ(RootOf(judge({fact, ending})), "uncaught-exception");
}

/// Output and errors in two files: whichever is read first, points of the one do not follow lines
/// of the other.
TEST(Analysis, PointsOfAnotherFileDoNotFollowALine) {
  LogFact fact;
  fact.cause = "scheduler-time-limit";
  fact.role = LogFact::Role::kRoot;
  fact.place = {"job.err", 1};
  for (const char* file : {"job.out", "job.err"}) {
    Scalar point;
    point.role = SeriesRole::kTrainLoss;
    point.place = {file, 2};
    Analysis analysis;
    analysis.Push({Seconds(1), fact});
    analysis.Push({Seconds(1), point});
    EXPECT_EQ(RootOf(analysis.Judge(false)),
              file == std::string("job.out") ? "scheduler-time-limit" : "-");
  }
}

TEST(Analysis, PointsCollectedLateDoNotFollowTheLineThatEndedTheRun) {
  Analysis analysis;
  analysis.Push({Seconds(0), RunStart{}});
  LogFact fact;
  fact.cause = "cuda-oom";
  fact.role = LogFact::Role::kRoot;
  analysis.Push({Seconds(5), fact});
  analysis.Push(
      {Seconds(4), Scalar{"loss", SeriesRole::kTrainLoss, 1.0, 7, std::nullopt, std::nullopt, {}, {}, {}}});
  analysis.Push({Seconds(6), Ended(ChildEnd::Exited(1))});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "cuda-oom");
}

TEST(Analysis, ARunWithoutAnEndIsRunningWhileItsJobLives) {
  EXPECT_EQ(WatchedRun().Judge(/*alive=*/true).outcome, Outcome::kRunning);
  const Verdict lost = WatchedRun().Judge(/*alive=*/false);
  EXPECT_EQ(lost.outcome, Outcome::kUnknown);
  EXPECT_FALSE(lost.unknowns.empty());
  EXPECT_EQ(ExitCodeOf(lost), 3);
}

TEST(Analysis, ATextThatBreaksOffInTheLastEpochIsNotCompleted) {
  const auto judge = [](TextEnd::Kind kind) {
    Analysis analysis;
    Progress progress;
    progress.epoch = 4;
    progress.epochs_planned = 4;
    analysis.Push({{}, progress});
    TextEnd end;
    end.kind = kind;
    analysis.Push({{}, end});
    return analysis.Judge(false).outcome;
  };
  EXPECT_EQ(judge(TextEnd::Kind::kMidLine), Outcome::kUnknown);
  EXPECT_EQ(judge(TextEnd::Kind::kMidProgress), Outcome::kUnknown);
  EXPECT_EQ(judge(TextEnd::Kind::kSilent), Outcome::kCompleted);
}

TEST(Analysis, OnlyTheLastSessionOfAnAppendedLogIsJudged) {
  Analysis analysis;
  LogFact fact;
  fact.cause = "cuda-oom";
  fact.role = LogFact::Role::kRoot;
  fact.line = "CUDA out of memory";
  analysis.Push({{}, fact});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "cuda-oom");
  analysis.Push({{}, Observation{"session-start", std::nullopt, std::nullopt, {}, {}, {}}});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "-");
  const std::string headline = analysis.Judge(false).headline;
  EXPECT_NE(headline.find("the last of 2 runs"), std::string::npos) << headline;
  EXPECT_NE(headline.find("the one before: ended by an error"), std::string::npos) << headline;
}

/// Goal: a loss that is both printed and seen at every step is judged by the latter.
/// Method: it is lost at its fifth step, before the first print.
TEST(Analysis, TakesTheLossOfEveryStepBeforeThePrintedOne) {
  Analysis analysis;
  for (int step = 1; step <= 300; ++step) {
    const double value = step < 5 ? 1.0 - 0.1 * step : std::nan("");
    analysis.Push(
        {Seconds(step),
         Scalar{"loss", SeriesRole::kTrainLoss, value, step, std::nullopt, std::nullopt, {}, {}, {}}});
    if (step % 20 == 0) {
      analysis.Push({Seconds(step), Scalar{"loss",
                                           SeriesRole::kTrainLoss,
                                           std::nan(""),
                                           std::nullopt,
                                           std::nullopt,
                                           std::nullopt,
                                           std::nullopt,
                                           std::nullopt,
                                           {"output", step}}});
    }
  }
  analysis.Push({Seconds(5), Observation{"nonfinite",
                                         4,
                                         std::nullopt,
                                         std::nullopt,
                                         std::nullopt,
                                         {{"first", "weight"},
                                          {"operation", "ReluBackward0"},
                                          {"weight_names", "fc.weight"},
                                          {"weights", 6.0}}}});
  EXPECT_EQ(RootOf(analysis.Judge(false)), "invalid-math");
}

/// Goal: a verdict asked for in the middle changes nothing about what is found at the end.
/// Method: the same events with and without asking after each.
TEST(Analysis, FindsTheSameLiveAndAfterwards) {
  Analysis live;
  Analysis after;
  std::size_t asked = 0;
  for (int step = 0; step < 300; ++step) {
    const double value = step < 200 ? 2.0 / (1 + step) : std::nan("");
    const Event event{
        Seconds(step),
        Scalar{"loss", SeriesRole::kTrainLoss, value, step, std::nullopt, std::nullopt, {}, {}, {}}};
    live.Push(event);
    after.Push(event);
    asked += live.Findings().size();
  }
  EXPECT_GT(asked, 0U);
  const auto found_live = live.Findings();
  const auto found_after = after.Findings();
  ASSERT_EQ(found_live.size(), found_after.size());
  for (std::size_t i = 0; i < found_live.size(); ++i) {
    EXPECT_EQ(found_live[i].detector, found_after[i].detector);
    EXPECT_EQ(found_live[i].step_from, found_after[i].step_from);
    EXPECT_EQ(found_live[i].strength, found_after[i].strength);
  }
}

/// A log, not a recording: what a text of these facts comes to.
Verdict JudgeText(std::vector<EventBody> bodies, TextEnd::Kind end) {
  Analysis analysis;
  for (EventBody& body : bodies) {
    analysis.Push({Seconds(1), std::move(body)});
  }
  TextEnd text_end;
  text_end.kind = end;
  text_end.last_line = "x";
  analysis.Push({Seconds(2), text_end});
  return analysis.Judge(false);
}

LogFact FactAt(std::string cause, LogFact::Role role, std::string line, std::int64_t number) {
  LogFact fact;
  fact.cause = std::move(cause);
  fact.role = role;
  fact.line = std::move(line);
  fact.place = {"log", number};
  fact.fatal = true;
  return fact;
}

TEST(Analysis, AStudyGoesOnAfterAPrunedTrial) {
  const LogFact pruned = FactAt("trial-pruned", LogFact::Role::kNormal, "Trial 7 pruned.", 3);
  EXPECT_EQ(JudgeText({pruned}, TextEnd::Kind::kCompleted).outcome, Outcome::kCompleted);
  EXPECT_EQ(JudgeText({pruned}, TextEnd::Kind::kSilent).outcome, Outcome::kStoppedEarly);
}

/// A launcher that starts the training again wrote both attempts into one log.
TEST(Analysis, AWorkerThatDiedInAnEarlierAttemptEndedNothing) {
  for (const int points_after : {0, 20}) {
    Analysis analysis;
    ExceptionSeen seen;
    seen.type = "RuntimeError";
    seen.message = "DataLoader worker (pid(s) 4711, 4712) exited unexpectedly";
    seen.ended_process = true;
    seen.place = {"log", 3};
    analysis.Push({{}, seen});
    for (int step = 1; step <= points_after; ++step) {
      Scalar loss;
      loss.series = "loss";
      loss.role = SeriesRole::kTrainLoss;
      loss.value = 2.0 / step;
      loss.step = step;
      loss.place = {"log", 3 + step};
      analysis.Push({{}, loss});
    }
    TextEnd end;
    end.kind = points_after > 0 ? TextEnd::Kind::kCompleted : TextEnd::Kind::kSilent;
    analysis.Push({{}, end});
    EXPECT_EQ(RootOf(analysis.Judge(false)), points_after > 0 ? "-" : "dataloader-worker-killed") << points_after;
  }
}

/// Reading the data draws a bar as well.
TEST(Analysis, AFullBarWithoutFiguresIsTheRunsIfNothingWasSaidAfterIt) {
  for (const bool last : {true, false}) {
    Analysis analysis;
    Progress progress;
    progress.step = 92;
    progress.steps_planned = 92;
    analysis.Push({Seconds(1), progress});
    TextEnd end;
    end.last_line = last ? "100%|####| 92/92 [00:10<00:00, 9.1it/s]" : "building the model";
    analysis.Push({Seconds(2), end});
    EXPECT_EQ(analysis.Judge(false).outcome, last ? Outcome::kCompleted : Outcome::kUnknown);
  }
}

TEST(Analysis, WhoTerminatedTheJobTerminatedItsWorkers) {
  const Verdict verdict = JudgeText(
      {FactAt("external-sigterm", LogFact::Role::kConfirm, "Received SIGTERM: 15", 3),
       EndingException("RuntimeError", "DataLoader worker (pid 7) is killed by signal: Terminated.", 4, 9)},
      TextEnd::Kind::kSilent);
  EXPECT_EQ(RootOf(verdict), "external-sigterm");
}

TEST(Analysis, AWarningIsNotWhatAnExceptionOfSomethingElseEnded) {
  LogFact warned;
  warned.cause = "driver-mismatch";
  warned.role = LogFact::Role::kRoot;
  warned.line = "a.py:141: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old";
  warned.place = {"log", 1};
  Analysis alone;
  alone.Push({Seconds(1), warned});
  EXPECT_EQ(RootOf(alone.Judge(false)), "driver-mismatch");
  Analysis both;
  both.Push({Seconds(1), warned});
  both.Push({Seconds(1), EndingException("KeyError", "'x'", 4, 9)});
  EXPECT_EQ(RootOf(both.Judge(false)), "uncaught-exception");
}

TEST(Analysis, ARunningFileSaysWhenItWasWritten) {
  Analysis analysis;
  TextEnd end;
  end.last_line = "epoch 3";
  end.age = std::chrono::seconds(40);
  analysis.Push({Seconds(2), end});
  const Verdict verdict = analysis.Judge(false);
  EXPECT_EQ(verdict.outcome, Outcome::kRunning);
  EXPECT_NE(verdict.ending.find("last written 40 s ago"), std::string::npos) << verdict.ending;
}

}  // namespace
}  // namespace whystop
