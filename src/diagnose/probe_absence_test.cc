#include "diagnose/probe_absence.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

TEST(OptionAgainstProbe, IsFoundBehindWrappersAndInClusters) {
  EXPECT_EQ(OptionAgainstProbe({"python", "-I", "train.py"}), "-I");
  EXPECT_EQ(OptionAgainstProbe({"nice", "/usr/bin/python3.11", "-uE", "train.py"}), "-E");
  EXPECT_EQ(OptionAgainstProbe({"python3", "-W", "ignore", "-S", "-m", "train"}), "-S");
}

TEST(OptionAgainstProbe, IsNotFoundInWhatBelongsToTheProgram) {
  EXPECT_EQ(OptionAgainstProbe({"python", "train.py", "-I"}), "");
  EXPECT_EQ(OptionAgainstProbe({"python", "-m", "train", "-E"}), "");
  EXPECT_EQ(OptionAgainstProbe({"python", "-Wignore::ImportWarning", "train.py"}), "");
  EXPECT_EQ(OptionAgainstProbe({"./trainer", "-I"}), "");
  EXPECT_EQ(OptionAgainstProbe({"pythonic", "-I"}), "");
}

}  // namespace
}  // namespace whystop
