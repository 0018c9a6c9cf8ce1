#include <gtest/gtest.h>

#include <string>

#include "cause/hang_weighers.h"
#include "model/process_look.h"

namespace whystop {
namespace {

using std::chrono::seconds;

Observation Places(int rank, double looks, double waiting) {
  Observation seen;
  seen.kind = "rank-places";
  seen.rank = rank;
  seen.attributes = {{"pid", 100.0 + rank}, {"looks", looks},         {"waiting", waiting},
                     {"exchange", "all_reduce"}, {"there", looks - waiting}, {"file", "/job/train.py"},
                     {"line", 17.0},          {"function", "load"},   {"source", "x = slow()"}};
  return seen;
}

std::string Told(const Hypothesis& out) {
  std::string text;
  for (const Evidence& evidence : out.evidence()) {
    text += evidence.text + "\n";
  }
  return text;
}

std::string Weighed(Weigher weigh, const CaseFile& run) {
  Hypothesis out;
  weigh(run, out);
  return Told(out);
}

TEST(Straggler, IsTheRankThatDoesNotWaitWhileAllOthersDo) {
  CaseFile run;
  run.observations = {Places(0, 60, 40), Places(1, 60, 2), Places(2, 60, 42)};
  const std::string text = Weighed(&WeighStraggler, run);
  EXPECT_NE(text.find("waited for rank 1"), text.npos) << text;
  EXPECT_NE(text.find("train.py:17 in load"), text.npos) << text;
}

TEST(Straggler, IsNobodyWhereRanksWaitByTurns) {
  CaseFile run;
  run.observations = {Places(0, 60, 20), Places(1, 60, 14), Places(2, 60, 22)};
  EXPECT_EQ(Weighed(&WeighStraggler, run), "");
}

TEST(Straggler, IsNotToldOfAfterAFewLooks) {
  CaseFile run;
  run.observations = {Places(0, 10, 8), Places(1, 10, 0)};
  EXPECT_EQ(Weighed(&WeighStraggler, run), "");
}

TEST(Straggler, IsSlowerByItsStepsWhereNobodyWaits) {
  CaseFile run;
  run.steps = {{100, 0, 1, 401, seconds(0), seconds(40)}, {101, 1, 1, 101, seconds(0), seconds(40)}};
  EXPECT_NE(Weighed(&WeighStraggler, run).find("rank 1 takes 0.4 s a step"), std::string::npos);
  run.steps[1].last = 390;
  EXPECT_EQ(Weighed(&WeighStraggler, run), "");
}

CaseFile TrainedOnCpu(seconds time) {
  CaseFile run;
  run.start.emplace();
  run.start->command = {"python", "train.py"};
  Observation model;
  model.kind = "model";
  model.attributes["devices"] = "cpu";
  Observation python;
  python.kind = "python";
  python.attributes["cuda"] = "";
  run.observations = {model, python};
  run.steps = {{100, std::nullopt, 1, 1000, seconds(0), time}};
  return run;
}

void AddGpu(std::int64_t held, CaseFile& run) {
  ReadingHistory total;
  total.quantity = Quantity::kGpuMemoryTotalBytes;
  total.last = total.max = std::int64_t{8} << 30;
  ReadingHistory job;
  job.quantity = Quantity::kGpuJobMemoryBytes;
  job.last = job.max = held;
  run.readings = {total, job};
}

TEST(CpuFallback, IsAGpuOutOfReachOfThisBuild) {
  CaseFile run = TrainedOnCpu(seconds(600));
  AddGpu(0, run);
  EXPECT_NE(Weighed(&WeighCpuFallback, run).find("no CUDA"), std::string::npos);
}

TEST(CpuFallback, IsAGpuThatWasAskedFor) {
  CaseFile run = TrainedOnCpu(seconds(600));
  run.observations[1].attributes["cuda"] = "12.4";
  run.start->command.insert(run.start->command.end(), {"--device", "cuda"});
  EXPECT_NE(Weighed(&WeighCpuFallback, run).find("asked for"), std::string::npos);
}

TEST(CpuFallback, IsNoFaultOfWhoTrainsOnTheCpuOnPurpose) {
  EXPECT_EQ(Weighed(&WeighCpuFallback, TrainedOnCpu(seconds(600))), "");  // No GPU far and wide.
  CaseFile could = TrainedOnCpu(seconds(600));
  AddGpu(0, could);
  could.observations[1].attributes["cuda"] = "12.4";  // It could, and nobody asked.
  EXPECT_EQ(Weighed(&WeighCpuFallback, could), "");
  CaseFile uses = TrainedOnCpu(seconds(600));
  AddGpu(1 << 30, uses);
  EXPECT_EQ(Weighed(&WeighCpuFallback, uses), "");
  CaseFile brief = TrainedOnCpu(seconds(5));
  AddGpu(0, brief);
  EXPECT_EQ(Weighed(&WeighCpuFallback, brief), "");
}

Observation Record(int rank, double begun, double sequence, const char* call, const char* state) {
  Observation seen;
  seen.kind = "collectives";
  seen.rank = rank;
  seen.attributes = {{"group", "0"},   {"ranks", 2.0},   {"begun", begun}, {"sequence", sequence},
                     {"call", call},   {"state", state}, {"sizes", "[4]"}, {"file", "/job/train.py"},
                     {"line", 7.0 + rank}, {"function", "step"}};
  return seen;
}

TEST(CollectiveRecords, NameTheRankThatNeverBegan) {
  CaseFile run;
  run.observations = {Record(0, 6, 6, "nccl:all_reduce", "started"), Record(1, 5, 5, "nccl:all_reduce", "completed")};
  const std::string text = Weighed(&WeighCollectiveTimeout, run);
  EXPECT_NE(text.find("rank 1 never began it: its last was nccl:all_reduce (number 5) at train.py:8"), text.npos) << text;
  EXPECT_EQ(Weighed(&WeighCollectiveMismatch, run), "");
}

TEST(CollectiveRecords, NameTwoRanksInDifferentOnes) {
  CaseFile run;
  run.observations = {Record(0, 6, 6, "nccl:all_reduce", "started"), Record(1, 6, 6, "nccl:broadcast", "started")};
  EXPECT_NE(Weighed(&WeighCollectiveMismatch, run).find("rank 1 is in nccl:broadcast"), std::string::npos);
  EXPECT_EQ(Weighed(&WeighCollectiveTimeout, run), "");
}

TEST(CollectiveRecords, SayNothingWhereAllHaveEnded) {
  CaseFile run;
  run.observations = {Record(0, 6, 6, "nccl:all_reduce", "completed"), Record(1, 5, 5, "nccl:all_reduce", "completed")};
  EXPECT_EQ(Weighed(&WeighCollectiveTimeout, run) + Weighed(&WeighCollectiveMismatch, run), "");
}

CaseFile Compiling(double cpu_share) {
  ProcessLook look;
  look.pid = 7;
  look.name = "cc1plus";
  CaseFile run;
  run.observations.push_back(ToObservation(look, 3));
  Observation moving;
  moving.kind = "moving";
  moving.attributes = {{"episode", 3.0}, {"cpu_share", cpu_share}, {"furthest", 1.0}};
  run.observations.push_back(moving);
  return run;
}

TEST(CompileOrWarmup, IsACompilerThatComputes) {
  EXPECT_NE(Weighed(&WeighCompileOrWarmup, Compiling(0.9)).find("cc1plus compiles"), std::string::npos);
  EXPECT_EQ(Weighed(&WeighCompileOrWarmup, Compiling(0)), "");
  CaseFile later = Compiling(0.9);
  later.steps = {{100, std::nullopt, 1, 50, seconds(0), seconds(60)}};  // It went on since.
  EXPECT_EQ(Weighed(&WeighCompileOrWarmup, later), "");
}

}  // namespace
}  // namespace whystop
