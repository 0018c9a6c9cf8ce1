#include "sense/host_sensor.h"

#include <gtest/gtest.h>

#include "sense/proc_text.h"
#include "sense/test_sweep.h"

namespace whystop {
namespace {

TEST(HostSensor, ReadsTheMachinesFiles) {
  DescriptorBudget budget(100);
  HostSensor sensor(FakeRoots("cgroup_v2_host").proc, budget);
  TestSweep test;
  sensor.Sample(test.sweep);
  const auto value = [&](Quantity quantity) { return test.Value("", quantity); };
  EXPECT_EQ(value(Quantity::kHostMemTotalBytes), 32768000LL * 1024);
  EXPECT_EQ(value(Quantity::kHostMemAvailableBytes), 16384000LL * 1024);
  EXPECT_EQ(value(Quantity::kHostSwapTotalBytes), 2097152LL * 1024);
  EXPECT_EQ(value(Quantity::kHostSwapFreeBytes), 1048576LL * 1024);
  EXPECT_EQ(value(Quantity::kHostSwapInPages), 11);
  EXPECT_EQ(value(Quantity::kHostSwapOutPages), 22);
  EXPECT_EQ(value(Quantity::kHostMajorFaults), 33);
  EXPECT_EQ(value(Quantity::kHostOomKills), 4);
  EXPECT_EQ(value(Quantity::kHostCpus), 2);
  EXPECT_EQ(value(Quantity::kHostLoadMilli), 1250);
  EXPECT_EQ(value(Quantity::kHostNetReceivedBytes), 1500);
  EXPECT_EQ(value(Quantity::kHostNetSentBytes), 2700);
  EXPECT_EQ(value(Quantity::kHostNetErrors), 10);
  EXPECT_EQ(value(Quantity::kPressureMemorySome), 12);
  EXPECT_EQ(value(Quantity::kPressureMemoryFull), 0);
  EXPECT_EQ(value(Quantity::kPressureIoSome), std::nullopt) << "this machine has no such file";
}

TEST(HostSensor, ReportsNothingFromGarbage) {
  DescriptorBudget budget(100);
  HostSensor sensor(FakeRoots("garbage").proc, budget);
  TestSweep test;
  sensor.Sample(test.sweep);
  EXPECT_TRUE(test.sweep.readings().empty());
}

TEST(ParseHostStat, CountsAllButIdleTimeAsBusy) {
  const HostCpu cpu = ParseHostStat("cpu  1 2 3 400 500 6 7 8 9 10\ncpu0 1 2 3 4\nintr 5\n");
  EXPECT_EQ(cpu.busy_ticks, 1 + 2 + 3 + 6 + 7 + 8);
  EXPECT_EQ(cpu.cpus, 1);
}

TEST(ParseDecimal, ReadsFixedPointNumbers) {
  EXPECT_EQ(ParseDecimal("1.5", 3), 1500);
  EXPECT_EQ(ParseDecimal("0.129", 2), 12);
  EXPECT_EQ(ParseDecimal("7", 2), 700);
  EXPECT_EQ(ParseDecimal("7.", 2), 700);
  EXPECT_EQ(ParseDecimal("x", 2), std::nullopt);
  EXPECT_EQ(ParseDecimal("1.x", 2), std::nullopt);
  EXPECT_EQ(ParseDecimal("9223372036854775807.9", 1), std::nullopt);
}

}  // namespace
}  // namespace whystop
