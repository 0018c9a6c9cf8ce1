#include "sense/disk_sensor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/fd.h"
#include "sense/surroundings.h"
#include "sense/test_sweep.h"

namespace whystop {
namespace {

TEST(FilesOpenForWriting, FindsThoseAndNoOthers) {
  const std::string path =
      std::string(::testing::TempDir()) + "/whystop-open-" + std::to_string(::getpid());
  const auto writing = OpenFd(path, O_WRONLY | O_CREAT);
  ASSERT_TRUE(writing);
  const auto reading = OpenFd("/proc/self/stat", O_RDONLY);
  const auto files = FilesOpenForWriting("/proc", ::getpid());
  EXPECT_NE(std::find_if(files.begin(), files.end(),
                         [](const std::string& file) {
                           return file.find("whystop-open-") != std::string::npos;
                         }),
            files.end());
  EXPECT_EQ(std::find_if(files.begin(), files.end(),
                         [](const std::string& file) { return file.starts_with("/proc/"); }),
            files.end());
  ::unlink(path.c_str());
}

TEST(DiskSensor, WatchesEachFileSystemOnce) {
  SenseOptions options;
  options.watched_paths = {"/", "/bin", "/proc"};
  DiskSensor sensor(options);
  TestSweep test;
  for (int tries = 0; tries < 100000 && test.sweep.readings().empty(); ++tries) {
    sensor.Sample({}, test.sweep);
    std::this_thread::yield();
  }
  EXPECT_GT(test.Value("/", Quantity::kDiskTotalBytes), 0);
  EXPECT_NE(test.Value("/", Quantity::kDiskFreeBytes), std::nullopt);
  const auto roots = std::count_if(
      sensor.watched().begin(), sensor.watched().end(),
      [](const DiskSensor::Watched& watched) { return watched.mount.mount_point == "/"; });
  EXPECT_EQ(roots, 1);
  for (const auto& watched : sensor.watched()) {
    EXPECT_NE(watched.mount.type, "proc");
  }
}

TEST(ReadDiskSpace, IsAbsentForAMissingFolder) {
  EXPECT_FALSE(ReadDiskSpace("/nonexistent/folder"));
}

const SurroundingFact* Find(const std::vector<SurroundingFact>& facts, const std::string& name) {
  const auto found = std::find_if(facts.begin(), facts.end(),
                                  [&](const SurroundingFact& fact) { return fact.name == name; });
  return found == facts.end() ? nullptr : &*found;
}

TEST(Surroundings, NamesTheLimitsInForce) {
  SurroundingsInput input;
  input.roots = FakeRoots("cgroup_v2_container");
  input.gpu = false;
  input.environment = {{"SLURM_JOB_ID", "77"}, {"SLURM_MEM_PER_NODE", "4096"}};
  const auto facts = ReadSurroundings(input);
  ASSERT_NE(Find(facts, "memory limit"), nullptr);
  EXPECT_EQ(Find(facts, "memory limit")->value, "4.0 GiB by cgroup /");
  EXPECT_EQ(Find(facts, "memory limit")->state, SurroundingFact::State::kLimited);
  EXPECT_EQ(Find(facts, "task limit")->value, "512 by cgroup /");
  EXPECT_EQ(Find(facts, "control groups")->value, "v2");
  EXPECT_EQ(Find(facts, "scheduler")->value, "Slurm job 77, 4096 MiB a node");
  EXPECT_EQ(Find(facts, "kernel log")->state, SurroundingFact::State::kUnavailable);
  EXPECT_EQ(Find(facts, "memory")->state, SurroundingFact::State::kUnavailable);
}

TEST(Surroundings, TellTheKindOfControlGroups) {
  SurroundingsInput input;
  input.gpu = false;
  input.roots = FakeRoots("cgroup_v1_host");
  EXPECT_EQ(Find(ReadSurroundings(input), "control groups")->value, "v1");
  input.roots = FakeRoots("cgroup_hybrid");
  EXPECT_EQ(Find(ReadSurroundings(input), "control groups")->value, "v1, with a v2 tree beside it");
  input.roots = FakeRoots("amdgpu");
  EXPECT_EQ(Find(ReadSurroundings(input), "control groups")->value, "none visible");
}

}  // namespace
}  // namespace whystop
