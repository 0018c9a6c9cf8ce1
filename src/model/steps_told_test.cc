#include "model/steps_told.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

Scalar At(std::int64_t line, std::optional<std::int64_t> step, std::string file = "train.log") {
  Scalar scalar;
  scalar.step = step;
  scalar.place = {.file = std::move(file), .line = line};
  return scalar;
}

TEST(StepsTold, AFigureBelongsToTheStepThatItsFileToldBefore) {
  StepsTold told;
  EXPECT_EQ(told.Of(At(1, std::nullopt)), std::nullopt);
  EXPECT_EQ(told.Of(At(2, 500)), 500);
  EXPECT_EQ(told.Of(At(3, std::nullopt)), 500);
  EXPECT_EQ(told.Of(At(3, std::nullopt, "other.log")), std::nullopt);
}

TEST(StepsTold, AFigureThatComesLateStandsWhereItsLineStands) {
  StepsTold told;
  for (int i = 1; i <= 30; ++i) {
    told.Of(At(2 * i, i));
  }
  EXPECT_EQ(told.Of(At(21, std::nullopt)), 10);
  EXPECT_EQ(told.Of(At(41, std::nullopt)), 20);
  EXPECT_EQ(told.Of(At(61, std::nullopt)), 30);
  EXPECT_EQ(told.Of(At(1, std::nullopt)), std::nullopt) << "before the first step";
}

TEST(StepsTold, OfAMillionStepsEnoughAreKeptToFindOneNearby) {
  StepsTold told;
  constexpr std::int64_t kSteps = 1'000'000;
  for (std::int64_t i = 1; i <= kSteps; ++i) {
    told.Of(At(i, i));
  }
  const auto found = told.Of(At(400'000, std::nullopt));
  ASSERT_TRUE(found);
  EXPECT_LE(*found, 400'000);
  EXPECT_GE(*found, 400'000 - 2 * kSteps / static_cast<std::int64_t>(StepsTold::kKeptMax));
}

}  // namespace
}  // namespace whystop
