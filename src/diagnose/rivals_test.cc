#include "diagnose/rivals.h"

#include <gtest/gtest.h>

#include "diagnose/analysis.h"

namespace whystop {
namespace {

/// A log in which the training loss falls and the held-out loss turns: nothing else is seen of the run.
Verdict JudgeALogThatOverfits() {
  Analysis analysis;
  for (int epoch = 1; epoch <= 40; ++epoch) {
    const auto push = [&](const char* name, SeriesRole role, double value) {
      analysis.Push({std::chrono::seconds(epoch), Scalar{name, role, value, epoch, std::nullopt, std::nullopt, {}, {}, {}}});
    };
    push("train_loss", SeriesRole::kTrainLoss, 1.0 / epoch);
    push("val_loss", SeriesRole::kValidationLoss, epoch < 10 ? 1.0 - 0.05 * epoch : 0.5 + 0.03 * (epoch - 10));
  }
  return analysis.Judge(false);
}

TEST(Rivals, WhatNobodyLookedAtIsNotRuledOut) {
  const Verdict verdict = JudgeALogThatOverfits();
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_EQ(verdict.causes.front().id, "overfitting");
  for (const RuledOut& ruled : verdict.ruled_out) {
    EXPECT_EQ(ruled.figure.find("Not seen"), std::string::npos) << ruled.what << ": " << ruled.figure;
  }
}

}  // namespace
}  // namespace whystop
