#include "text/countdown.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

TEST(ReadTimeLeft, ReadsNumbersAndClocks) {
  for (const char* none : {"step 3 eta_seconds: 0", "eta: 0:00:00  iter: 9", "ETA: 0s", "eta=0h 0m 0s", "'eta': 0.0, 'x': 5"}) {
    EXPECT_EQ(ReadTimeLeft(none), TimeLeft::kNone) << none;
  }
  for (const char* some : {"eta: 1 day, 0:00:00", "eta_seconds: 0.5", "ETA: 0:00:07, loss 3"}) {
    EXPECT_EQ(ReadTimeLeft(some), TimeLeft::kSome) << some;
  }
}

TEST(ReadTimeLeft, KnowsOtherWords) {
  for (const char* other : {"beta: 0", "eta", "metadata: 0", "eta: unknown", "theta 0", "eta_min: 0"}) {
    EXPECT_EQ(ReadTimeLeft(other), TimeLeft::kNotSaid) << other;
  }
}

}  // namespace
}  // namespace whystop
