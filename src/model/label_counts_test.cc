#include "model/label_counts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace whystop {
namespace {

TEST(LabelEntropy, ClassesThatAreNotListedShareTheRest) {
  EXPECT_NEAR(LabelEntropyOfMany("0:10,1:10", 8, 80).value(), std::log(8), 1e-12);
  EXPECT_NEAR(LabelEntropyOfMany("0:10,1:10", 2, 20).value(), std::log(2), 1e-12);
  EXPECT_FALSE(LabelEntropyOfMany("", 8, 80));
}

TEST(LabelEntropy, OfEqualClassesIsTheLogarithmOfTheirNumber) {
  EXPECT_NEAR(LabelEntropy("0:50,1:50,7:50").value(), std::log(3), 1e-12);
}

TEST(LabelEntropy, OfUnequalClassesIsLess) {
  EXPECT_NEAR(LabelEntropy("0:90,1:10").value(), 0.325083, 1e-6);
  EXPECT_EQ(LabelEntropy("0:90,1:0").value(), 0);
}

TEST(LabelEntropy, CountsEachLabelAsItsClassWeighs) {
  EXPECT_NEAR(LabelEntropy("0:90,1:10", "1,9").value(), std::log(2), 1e-12);
  EXPECT_NEAR(LabelEntropy("0:90,7:10", "1,9").value(), 0.325083, 1e-6);  // No weight for class 7.
}

TEST(LabelEntropy, NeedsTwoClasses) {
  EXPECT_FALSE(LabelEntropy(""));
  EXPECT_FALSE(LabelEntropy("0:90"));
  EXPECT_FALSE(LabelEntropy("no counts"));
}

}  // namespace
}  // namespace whystop
