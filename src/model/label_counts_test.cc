#include "model/label_counts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace whystop {
namespace {

TEST(LabelEntropy, OfEqualClassesIsTheLogarithmOfTheirNumber) {
  EXPECT_NEAR(LabelEntropy("0:50,1:50,7:50").value(), std::log(3), 1e-12);
}

TEST(LabelEntropy, OfUnequalClassesIsLess) {
  EXPECT_NEAR(LabelEntropy("0:90,1:10").value(), 0.325083, 1e-6);
  EXPECT_EQ(LabelEntropy("0:90,1:0").value(), 0);
}

TEST(LabelEntropy, NeedsTwoClasses) {
  EXPECT_FALSE(LabelEntropy(""));
  EXPECT_FALSE(LabelEntropy("0:90"));
  EXPECT_FALSE(LabelEntropy("no counts"));
}

}  // namespace
}  // namespace whystop
