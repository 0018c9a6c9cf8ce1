#include "fit/fit_plan.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// A program that takes `fixed` and so much a sample, in a world with `limit`.
struct World {
  std::int64_t own = 64;
  std::int64_t samples = 0;
  double fixed_mib = 300;
  double sample_mib = 0.5;
  double bend = 0;  // Memory that grows with the square of the batch.
  std::int64_t limit_mib = 1000;

  double Needs(std::int64_t batch) const {
    const auto b = static_cast<double>(batch);
    return fixed_mib + sample_mib * b + bend * b * b;
  }
  FitTrial Run(std::int64_t batch) const {
    FitTrial trial;
    trial.own_batch = own;
    trial.samples = samples;
    trial.batch = batch == 0 ? own : batch;
    const bool fits = Needs(trial.batch) <= static_cast<double>(limit_mib);
    trial.end = fits ? FitTrial::End::kFits : FitTrial::End::kTooMuch;
    trial.peak_bytes = static_cast<std::int64_t>(Needs(trial.batch) * static_cast<double>(kMiB));
    return trial;
  }
  std::vector<FitTrial> PlayOut() const {
    std::vector<FitTrial> done;
    while (done.size() < 40) {
      const auto next = NextBatch(done, limit_mib * kMiB);
      if (!next) {
        break;
      }
      done.push_back(Run(*next));
    }
    return done;
  }
};

/// Goal: the answer was seen to fit, and no batch that is a tenth larger would.
void ExpectClose(const World& world) {
  const std::vector<FitTrial> trials = world.PlayOut();
  const FitAnswer answer = AnswerOf(trials);
  EXPECT_TRUE(answer.settled);
  EXPECT_LE(world.Needs(answer.batch), static_cast<double>(world.limit_mib));
  EXPECT_GT(world.Needs(answer.batch + std::max<std::int64_t>(1, answer.batch / 10) + 1),
            static_cast<double>(world.limit_mib));
  EXPECT_LE(trials.size(), 12u);
}

TEST(FitPlan, FindsTheLargestBatch) {
  ExpectClose({});
  ExpectClose({.own = 1});
  ExpectClose({.own = 1000});
  ExpectClose({.own = 4096, .sample_mib = 2.0});  // Its own does not fit.
  ExpectClose({.sample_mib = 40});
  ExpectClose({.bend = 0.001});
  ExpectClose({.fixed_mib = 900, .sample_mib = 0.01});
}

TEST(FitPlan, StopsAtTheLastSample) {
  const World world{.samples = 500};
  const FitAnswer answer = AnswerOf(world.PlayOut());
  EXPECT_EQ(answer.batch, 500);
  EXPECT_TRUE(answer.all_samples);
}

TEST(FitPlan, SaysWhenNothingFits) {
  const World world{.fixed_mib = 2000};
  const FitAnswer answer = AnswerOf(world.PlayOut());
  EXPECT_EQ(answer.batch, 0);
  EXPECT_EQ(answer.too_large, 1);
  EXPECT_TRUE(answer.settled);
}

TEST(FitPlan, WhatFittedOnceAndNotAgainDoesNotFit) {
  const World world;
  std::vector<FitTrial> done = world.PlayOut();
  const std::int64_t first = AnswerOf(done).batch;
  done.push_back(world.Run(first));
  done.back().end = FitTrial::End::kTooMuch;
  const FitAnswer answer = AnswerOf(done);
  EXPECT_LT(answer.batch, first);
  EXPECT_EQ(answer.too_large, first);
  EXPECT_FALSE(answer.settled);
  EXPECT_TRUE(NextBatch(done, world.limit_mib * kMiB));
}

TEST(FitPlan, AnErrorOfTheProgramEndsTheSearch) {
  FitTrial strange = World{}.Run(0);
  strange.end = FitTrial::End::kOther;
  const std::vector<FitTrial> done = {strange};
  EXPECT_FALSE(NextBatch(done, 1000 * kMiB));
}

TEST(FitPlan, MemoryThatDoesNotGrowHasNoLine) {
  World flat;
  flat.sample_mib = 0;
  const std::vector<FitTrial> done = {flat.Run(64), flat.Run(128)};
  EXPECT_FALSE(LineThrough(done));
}

}  // namespace
}  // namespace whystop
