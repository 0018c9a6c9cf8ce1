#include "sense/cgroup_sensor.h"

#include <gtest/gtest.h>

#include "sense/test_sweep.h"

namespace whystop {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr pid_t kJob = 4242;

class CgroupRoots : public ::testing::Test {
 protected:
  void Read(const std::string& root) {
    sensor_ = std::make_unique<CgroupSensor>(FakeRoots(root), budget_);
    sensor_->Follow(kJob);
    sensor_->Sample(test_.sweep);
  }
  std::optional<std::int64_t> Value(const std::string& group, Quantity quantity) const {
    return test_.Value(group, quantity);
  }

  DescriptorBudget budget_{1000};
  TestSweep test_;
  std::unique_ptr<CgroupSensor> sensor_;
};

TEST_F(CgroupRoots, FindsTheLimitOfAnAncestorInV1) {
  Read("cgroup_v1_host");
  const std::string step = "/slurm/uid_1000/job_77/step_0";
  EXPECT_EQ(Value(step, Quantity::kCgroupMemoryBytes), 6 * kGiB);
  EXPECT_EQ(Value(step, Quantity::kCgroupMemoryPeakBytes), 7 * kGiB);
  // Its own limit is 16 GiB, but the kernel says that 8 GiB hold for it.
  EXPECT_EQ(Value(step, Quantity::kCgroupMemoryLimitBytes), 8 * kGiB);
  EXPECT_EQ(Value(step, Quantity::kCgroupOomKills), 2);
  EXPECT_EQ(Value(step, Quantity::kCgroupSwapBytes), 8192);
  EXPECT_EQ(Value(step, Quantity::kCgroupFrozen), 1);
  EXPECT_EQ(Value("/slurm/uid_1000/job_77", Quantity::kCgroupMemoryLimitBytes), 8 * kGiB);
  EXPECT_EQ(Value("/slurm/uid_1000/job_77", Quantity::kCgroupOomKills), 1);
  EXPECT_EQ(Value("/slurm", Quantity::kCgroupMemoryLimitBytes), std::nullopt) << "unlimited";
  EXPECT_EQ(Value("/user.slice", Quantity::kCgroupPids), 210);
  EXPECT_EQ(Value("/user.slice", Quantity::kCgroupPidsLimit), 4096);
  EXPECT_EQ(Value("/", Quantity::kCgroupThrottledMs), 2500);
  EXPECT_EQ(SmallestMemoryLimit(sensor_->groups()), 8 * kGiB);
}

TEST_F(CgroupRoots, FindsAContainersGroupAtTheMountsRootInV1) {
  Read("cgroup_v1_container");
  EXPECT_EQ(Value("/docker/3f2a", Quantity::kCgroupMemoryBytes), 1 * kGiB);
  EXPECT_EQ(Value("/docker/3f2a", Quantity::kCgroupPidsRefused), 3);
  // The container's own limit is 4 GiB; 3 GiB come from a group that cannot be seen from inside.
  EXPECT_EQ(SmallestMemoryLimit(sensor_->groups()), 3 * kGiB);
}

TEST_F(CgroupRoots, FindsTheLimitOfASliceInV2) {
  Read("cgroup_v2_host");
  const std::string scope = "/user.slice/user-1000.slice/session-2.scope";
  EXPECT_EQ(Value(scope, Quantity::kCgroupMemoryBytes), 8 * kGiB);
  EXPECT_EQ(Value(scope, Quantity::kCgroupMemoryPeakBytes), 9 * kGiB);
  EXPECT_EQ(Value(scope, Quantity::kCgroupMemoryLimitBytes), std::nullopt) << "says max";
  EXPECT_EQ(Value(scope, Quantity::kCgroupOomKills), 1);
  EXPECT_EQ(Value(scope, Quantity::kCgroupOoms), 2);
  EXPECT_EQ(Value(scope, Quantity::kCgroupAnonBytes), 7 * kGiB);
  EXPECT_EQ(Value(scope, Quantity::kCgroupShmemBytes), 1 << 20);
  EXPECT_EQ(Value(scope, Quantity::kCgroupFileBytes), 1 * kGiB) << "shared memory is no cache";
  EXPECT_EQ(Value(scope, Quantity::kCgroupThrottledMs), 3);
  EXPECT_EQ(Value(scope, Quantity::kCgroupPidsRefused), 4);
  EXPECT_EQ(Value(scope, Quantity::kPressureMemorySome), 1234);
  EXPECT_EQ(Value(scope, Quantity::kPressureMemoryFull), 506);
  const std::string slice = "/user.slice/user-1000.slice";
  EXPECT_EQ(Value(slice, Quantity::kCgroupMemoryLimitBytes), 12 * kGiB);
  EXPECT_EQ(Value(slice, Quantity::kCgroupMemoryHighBytes), 11 * kGiB);
  EXPECT_EQ(Value(slice, Quantity::kCgroupPidsLimit), 10813);
  EXPECT_EQ(Value("/", Quantity::kCgroupMemoryBytes), std::nullopt) << "the root has no counter";
  EXPECT_EQ(SmallestMemoryLimit(sensor_->groups()), 12 * kGiB);
}

TEST_F(CgroupRoots, SeesAContainersNamespaceAsTheRootInV2) {
  Read("cgroup_v2_container");
  EXPECT_EQ(Value("/", Quantity::kCgroupMemoryLimitBytes), 4 * kGiB);
  EXPECT_EQ(Value("/", Quantity::kCgroupPidsLimit), 512);
  EXPECT_EQ(Value("/", Quantity::kCgroupOomKills), 0);
  EXPECT_EQ(sensor_->groups().size(), 1U);
}

TEST_F(CgroupRoots, UsesTheVisibleRootWhenThePathLiesOutside) {
  Read("cgroup_v2_kubernetes");
  EXPECT_EQ(Value("/", Quantity::kCgroupMemoryLimitBytes), 3 * kGiB);
  EXPECT_EQ(Value("/", Quantity::kCgroupOomKills), 5);
}

TEST_F(CgroupRoots, JoinsBothTreesOfAHybridMachine) {
  Read("cgroup_hybrid");
  EXPECT_EQ(Value("/system.slice/train.service", Quantity::kCgroupMemoryLimitBytes), 2 * kGiB);
  EXPECT_EQ(Value("/system.slice/train.service", Quantity::kCgroupFrozen), 1);
}

TEST_F(CgroupRoots, ReportsNothingFromGarbage) {
  Read("garbage");
  ASSERT_FALSE(sensor_->groups().empty());
  EXPECT_TRUE(test_.sweep.readings().empty());
}

TEST_F(CgroupRoots, WatchesNothingOfAProcessThatIsNotThere) {
  sensor_ = std::make_unique<CgroupSensor>(FakeRoots("cgroup_v2_host"), budget_);
  sensor_->Follow(99);
  EXPECT_TRUE(sensor_->groups().empty());
}

TEST(ParseCgroupLimit, TellsUnlimitedFromALimit) {
  EXPECT_EQ(ParseCgroupLimit("1073741824\n"), 1 * kGiB);
  EXPECT_EQ(ParseCgroupLimit("0\n"), 0);
  EXPECT_EQ(ParseCgroupLimit("max\n"), std::nullopt);
  EXPECT_EQ(ParseCgroupLimit("9223372036854771712\n"), std::nullopt);
  EXPECT_EQ(ParseCgroupLimit("18446744073709551615\n"), std::nullopt);
  EXPECT_EQ(ParseCgroupLimit("-1\n"), std::nullopt);
  EXPECT_EQ(ParseCgroupLimit(""), std::nullopt);
}

TEST(ParseProcCgroup, KeepsPathsWithColonsAndDropsTheMarkOfDeletedGroups) {
  const auto groups = ParseProcCgroup("4:cpu,cpuacct:/a:b\n0::/gone (deleted)\nno group\n2:x\n");
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].controllers, "cpu,cpuacct");
  EXPECT_EQ(groups[0].path, "/a:b");
  EXPECT_EQ(groups[1].controllers, "");
  EXPECT_EQ(groups[1].path, "/gone");
}

TEST(ParseMountInfo, UndoesEscapesAndFindsTheInnermostMount) {
  const auto mounts = ParseMountInfo(
      "1 0 8:1 / / rw - ext4 /dev/sda rw\n"
      "2 1 0:5 / /my\\040data rw shared:1 master:2 - nfs4 server:/x rw,hard\n"
      "3 1 0:6 / /my rw - tmpfs tmpfs rw\n"
      "4 1 0:7 / /my rw - xfs /dev/sdb rw\n"
      "broken\n");
  ASSERT_EQ(mounts.size(), 4U);
  EXPECT_EQ(FindMount(mounts, "/my data/run/log")->type, "nfs4");
  EXPECT_EQ(FindMount(mounts, "/my/log")->type, "xfs") << "the later mount hides the earlier";
  EXPECT_EQ(FindMount(mounts, "/mystery")->type, "ext4");
  EXPECT_EQ(FindMount(mounts, "relative"), nullptr);
}

}  // namespace
}  // namespace whystop
