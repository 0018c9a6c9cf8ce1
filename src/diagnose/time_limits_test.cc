#include "diagnose/time_limits.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

using std::chrono::seconds;

TEST(TimeLimits, TheTimeOfACommandLineIsRead) {
  EXPECT_EQ(TimeGranted("timeout 10 python fit.py"), seconds(10));
  EXPECT_EQ(TimeGranted("/usr/bin/timeout -k 5 --signal=INT 2m python fit.py"), std::chrono::minutes(2));
  EXPECT_EQ(TimeGranted("python fit.py --timeout 10"), std::nullopt);
  EXPECT_EQ(TimeGranted("timeout"), std::nullopt);
}

TEST(TimeLimits, WhoseTimeWasUpIsToldByHowLongItLived) {
  const ProcessStart started{.pid = 7, .parent_pid = 1, .name = "timeout", .command = "timeout 10 python fit.py"};
  for (const auto& [lived, met] : {std::pair(seconds(4), false), std::pair(seconds(10), true), std::pair(seconds(40), false)}) {
    TimeLimits limits;
    limits.Push(started, RunTime(seconds(1)));
    ProcessEnd ended;
    ended.pid = 7;
    EXPECT_EQ(limits.Push(ended, RunTime(seconds(1) + lived)).has_value(), met) << lived.count();
  }
}

}  // namespace
}  // namespace whystop
