#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "whystop/whystop.h"
#include "wire/wire_testing.h"

namespace whystop {
namespace {

/// What a trainer tells of its model, and what arrives.
class ObserveTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("WHYSTOP_RING_DIR", folder_.path().c_str(), 1);
    run_ = ws_open();
  }
  void TearDown() override {
    ws_close(run_);
    unsetenv("WHYSTOP_RING_DIR");
  }
  std::vector<Observation> Told(const char* kind) {
    auto reader = RingReader::Open(folder_.OnlyFile());
    EXPECT_TRUE(reader);
    return DecodeAll(*reader).Observed(kind);
  }
  static double Number(const Observation& told, const char* key) {
    return told.Number(key).value_or(-1);
  }

  TemporaryFolder folder_;
  ws_run* run_ = nullptr;
};

TEST_F(ObserveTest, CountsUnitsThatNeverFire) {
  const float values[] = {0, 1, 0, 0, 2, 0};  // Two rows of three units; the middle one fires.
  ws_activations(run_, 5, "hidden", "ReLU", values, 2, 3);
  const auto told = Told("activation");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(Number(told[0], "units"), 3);
  EXPECT_EQ(Number(told[0], "dead"), 2);
}

TEST_F(ObserveTest, TellsHowManyValuesLieWhereAFunctionIsFlat) {
  const float values[] = {0.999F, 0.5F, 0.001F, -0.999F};
  ws_activations(run_, 5, "sigmoid", "Sigmoid", values, 3, 1);
  ws_activations(run_, 5, "tanh", "Tanh", values, 4, 1);
  const auto told = Told("activation");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_DOUBLE_EQ(Number(told[0], "saturated"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(Number(told[1], "saturated"), 2.0 / 4);
}

TEST_F(ObserveTest, SaysNothingOfFunctionsItDoesNotKnow) {
  const float values[] = {1, 1};
  ws_activations(run_, 5, "gate", "SiLU", values, 2, 1);
  ws_activations(run_, 5, "act", "RReLU", values, 2, 1);
  EXPECT_TRUE(Told("activation").empty());
}

TEST_F(ObserveTest, SeesProbabilitiesGivenAsScores) {
  const float outputs[] = {0.25F, 0.75F, 1, 0};
  const float targets[] = {0, 1};
  const ws_loss_call call = {"cross_entropy", outputs, targets, 2, 2, 1};
  ws_loss(run_, 1, &call);
  const ws_loss_call regression = {"mse_loss", outputs, outputs, 2, 2, 2};
  ws_loss(run_, 2, &regression);
  const auto told = Told("loss-call");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(Number(told[0], "sums_to_one"), 1);
  EXPECT_EQ(Number(told[0], "classes"), 2);
  EXPECT_EQ(Number(told[0], "target_max"), 1);
  EXPECT_FALSE(told[1].Number("sums_to_one")) << "a regression has no classes";
}

TEST_F(ObserveTest, CountsLabels) {
  const std::int32_t labels[] = {0, 0, 0, 2};
  ws_labels(run_, labels, 4);
  const auto told = Told("labels");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(Number(told[0], "classes"), 2);
  EXPECT_DOUBLE_EQ(Number(told[0], "majority"), 0.75);
}

TEST_F(ObserveTest, TakesNothingForAnAnswer) {
  const float values[] = {1};
  const ws_loss_call no_targets = {"mse_loss", values, nullptr, 1, 1, 1};
  ws_loss(run_, 1, &no_targets);
  ws_loss(run_, 1, nullptr);
  ws_labels(run_, nullptr, 3);
  ws_inputs(run_, 1, nullptr, 1, 1);
  ws_activations(run_, 1, nullptr, nullptr, values, 1, 1);
  EXPECT_TRUE(Told("loss-call").empty());
  EXPECT_TRUE(Told("labels").empty());
  EXPECT_TRUE(Told("model-input").empty());
  EXPECT_TRUE(Told("activation").empty());
}

}  // namespace
}  // namespace whystop
