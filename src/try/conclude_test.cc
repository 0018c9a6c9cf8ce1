#include "try/conclude.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "try/compare.h"
#include "try/interventions.h"
#include "try/pace.h"

namespace whystop {
namespace {

constexpr double kGuess = 2.3;
constexpr int kSteps = 100;

/// A trial whose loss goes from `first` to `last`, with a little noise that is the same every time.
Trial MakeTrial(const std::string& spec, double first, double last, bool with_guess = true) {
  Trial trial;
  trial.spec = spec;
  trial.begun = trial.ended = true;
  trial.applied = 1;
  trial.survey = {{"lr", 0.1}, {"lr_now", 0.1}, {"matrices", 3}, {"narrowest", 64}};
  for (int step = 1; step <= kSteps; ++step) {
    const double share = std::min(1.0, step / (0.5 * kSteps));
    const double wobble = 0.02 * std::sin(7.0 * step);
    const double loss = first + (last - first) * share + wobble;
    trial.loss.push_back({step, loss});
    if (with_guess) {
      trial.task.push_back({step, loss});
      trial.guess.push_back({step, kGuess});
    }
  }
  return trial;
}

Trial Held(Trial trial, double ratio) {
  for (int step = 1; step <= kSteps; ++step) {
    trial.held.push_back({step, ratio + 0.01 * std::sin(7.0 * step)});
  }
  return trial;
}

std::vector<Trial> Flat() { return {MakeTrial(kAsIs, 2.35, 2.32), MakeTrial("seed=1000", 2.36, 2.31)}; }

TryCase Suspecting(std::vector<std::string> suspects) {
  TryCase asked;
  asked.suspects = std::move(suspects);
  return asked;
}

/// Runs the plan against a program of which `world` knows how each trial ends.
template <typename World>
std::vector<Trial> PlayOut(const TryCase& asked, World world) {
  std::vector<Trial> done;
  for (int rounds = 0; rounds < 60; ++rounds) {
    const auto wanted = NextTrials(asked, done, {});
    if (wanted.empty()) {
      return done;
    }
    done.push_back(world(wanted.front()));
  }
  ADD_FAILURE() << "the plan has no end";
  return done;
}

TEST(Try, ALowerRateThatLearnsProvesThatItWasTooHigh) {
  const TryCase asked = Suspecting({"constant-prediction"});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    return MakeTrial(spec, 2.4, spec == "lr-times=0.1" ? 1.5 : spec == "lr-times=0.01" ? 0.2 : 2.4);
  });
  const Conclusions found = Conclude(asked, trials);
  ASSERT_TRUE(found.proof);
  EXPECT_EQ(found.proof->cause, "lr-too-high");
  EXPECT_EQ(found.proof->spec, "lr-times=0.01");
  EXPECT_NE(found.proof->text.find("instead of 2.4"), std::string::npos) << found.proof->text;
}

TEST(Try, AHigherRateThatLearnsProvesThatItWasTooLow) {
  const TryCase asked = Suspecting({});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    return MakeTrial(spec, 2.3, spec == "lr-times=100" ? 0.3 : 2.3);
  });
  const Conclusions found = Conclude(asked, trials);
  ASSERT_TRUE(found.proof);
  EXPECT_EQ(found.proof->cause, "lr-too-low");
}

TEST(Try, ALossThatIsLostIsComparedToo) {
  auto trials = Flat();
  for (Trial& trial : trials) {
    trial = MakeTrial(trial.spec, 2.3, std::numeric_limits<double>::quiet_NaN());
  }
  trials.push_back(MakeTrial("lr-times=0.1", 2.3, 0.4));
  EXPECT_TRUE(Comparison(trials).failing());
  const Conclusions found = Conclude(Suspecting({"loss-nan"}), trials);
  ASSERT_TRUE(found.proof);
  EXPECT_EQ(found.proof->cause, "lr-too-high");
}

TEST(Try, NothingIsProvenByADifferenceThatEqualRunsShowToo) {
  // Goal: luck is no cure. Method: the second seed alone learns as well as the lower rate.
  std::vector<Trial> trials = {MakeTrial(kAsIs, 2.35, 2.32), MakeTrial("seed=1000", 2.36, 0.5),
                               MakeTrial("lr-times=0.1", 2.3, 0.5)};
  EXPECT_FALSE(Conclude(Suspecting({"lr-too-high"}), trials).proof);
}

TEST(Try, ASmallGainProvesNothing) {
  auto trials = Flat();
  trials.push_back(MakeTrial("lr-times=0.1", 2.3, 2.1));
  EXPECT_FALSE(Conclude(Suspecting({"lr-too-high"}), trials).proof);
}

TEST(Try, ARunThatLearnsIsNotBlamedForItsRate) {
  // A rate ten times as high is often quicker in a healthy program.
  const TryCase asked = Suspecting({"lr-too-low"});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    return MakeTrial(spec, 2.3, spec == "lr-times=10" ? 0.05 : 0.9);
  });
  EXPECT_FALSE(Conclude(asked, trials).proof);
  EXPECT_LE(trials.size(), 2U);
}

TEST(Try, AChangeThatDidNotApplyProvesNothing) {
  auto trials = Flat();
  Trial changed = MakeTrial("lr-times=0.1", 2.3, 0.2);
  changed.applied = 0;
  trials.push_back(changed);
  EXPECT_FALSE(Conclude(Suspecting({"lr-too-high"}), trials).proof);
}

TEST(Try, AMendingIsTriedOnlyWhereItCouldMatter) {
  const TryCase asked = Suspecting({});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    Trial trial = MakeTrial(spec, 2.3, spec == "zero-grad" ? 0.3 : 2.3);
    trial.survey["gradients_left"] = 1;
    return trial;
  });
  const Conclusions found = Conclude(asked, trials);
  ASSERT_TRUE(found.proof);
  EXPECT_EQ(found.proof->cause, "missing-zero-grad");
  for (const Trial& trial : trials) {
    EXPECT_NE(trial.spec, "train-mode");
  }
}

TEST(Try, LabelsThatCarryNothingOverAreProvenRandom) {
  const TryCase asked = Suspecting({"labels-misaligned"});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    const bool held = spec == "hold-out" || spec == "stand-in=0.003";
    const Trial trial = MakeTrial(spec, 2.32, spec == "one-batch=8" ? 0.1 : 2.31);
    return held ? Held(trial, 1.02) : trial;
  });
  const Conclusions found = Conclude(asked, trials);
  ASSERT_TRUE(found.proof);
  EXPECT_EQ(found.proof->cause, "labels-misaligned");
}

TEST(Try, LabelsAreNotBlamedWhereAPlainNetworkFindsSomethingInThem) {
  const TryCase asked = Suspecting({"labels-random"});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    const bool held = spec == "hold-out" || spec == "stand-in=0.003";
    const Trial trial = MakeTrial(spec, 2.32, spec == "one-batch=8" || spec == "stand-in=0.003" ? 0.1 : 2.31);
    return held ? Held(trial, spec == "hold-out" ? 1.0 : 0.5) : trial;
  });
  EXPECT_FALSE(Conclude(asked, trials).proof);
}

TEST(Try, AModelWithoutHiddenLayerIsProvenTooSmall) {
  const TryCase asked = Suspecting({"labels-random"});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    Trial trial = MakeTrial(spec, 2.32, spec == "stand-in=0.003" ? 0.1 : 2.31);
    trial.survey["matrices"] = 1;
    trial.survey.erase("narrowest");
    return spec == "hold-out" ? Held(trial, 1.0) : spec == "stand-in=0.003" ? Held(trial, 0.2) : trial;
  });
  const Conclusions found = Conclude(asked, trials);
  ASSERT_TRUE(found.proof);
  EXPECT_EQ(found.proof->cause, "capacity-too-small");
}

TEST(Try, BothDirectionsWithoutEffectRefuteTheRate) {
  const TryCase asked = Suspecting({"lr-too-low", "labels-random"});
  const auto trials = PlayOut(asked, [](const std::string& spec) { return MakeTrial(spec, 2.32, 2.31); });
  const Conclusions found = Conclude(asked, trials);
  EXPECT_FALSE(found.proof);
  ASSERT_EQ(found.refuted.size(), 1U);
  EXPECT_EQ(found.refuted.front().cause, "lr-too-low");
}

TEST(Try, AFewTimesTheStepsAreNoRateThatIsTooLow) {
  // Goal: a rate ten times as high is quicker, and the rate is not to blame: twice the steps do as well.
  const TryCase asked = Suspecting({"lr-too-low"});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    if (spec == StretchSpec(1)) {
      return Held(MakeTrial(spec, 2.1, 1.1), 0.5);
    }
    return MakeTrial(spec, 2.3, spec == "lr-times=10" ? 0.3 : spec == kAsIs || spec == "seed=1000" ? 2.0 : 2.3);
  });
  const Conclusions found = Conclude(asked, trials);
  ASSERT_TRUE(found.proof);
  EXPECT_EQ(found.proof->cause, "not-enough-steps");
}

TEST(Try, AProgramThatGetsOnByItselfIsNotBlamedForItsRate) {
  // Goal: slow, but it learns; as seen of one epoch at Adam's usual rate, of which ten times was "proven" too low.
  const TryCase asked = Suspecting({"lr-too-low"});
  std::vector<Trial> trials = {MakeTrial(kAsIs, 2.2, 2.1), MakeTrial("seed=1000", 2.2, 2.1),
                               Held(MakeTrial(StretchSpec(1), 2.1, 1.95), 0.87), MakeTrial("lr-times=10", 2.2, 1.2),
                               Held(MakeTrial("hold-out lr-times=10", 2.2, 1.2), 0.6)};
  EXPECT_FALSE(Conclude(asked, trials).proof);
  trials.push_back(Held(MakeTrial(StretchSpec(2), 1.95, 1.75), 0.78));
  ASSERT_TRUE(Conclude(asked, trials).proof);
  EXPECT_EQ(Conclude(asked, trials).proof->cause, "not-enough-steps");
}

TEST(Try, ACheckThatWasCutOffProvesNothing) {
  auto trials = Flat();
  trials.push_back(MakeTrial("lr-times=0.1", 2.3, 0.2));
  trials.emplace_back().spec = "hold-out lr-times=0.1";
  EXPECT_FALSE(Conclude(Suspecting({"lr-too-high"}), trials).proof);
}

TEST(Try, MoreStepsThatTeachByHeartProveNothing) {
  const TryCase asked = Suspecting({"not-enough-steps"});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    const bool longer = spec.starts_with("continue");
    const bool held = longer || spec == "hold-out" || spec == "stand-in=0.003";
    const Trial trial = MakeTrial(spec, 2.2, longer ? 1.2 : spec == kAsIs || spec == "seed=1000" ? 2.05 : 2.3);
    return held ? Held(trial, 1.1) : trial;
  });
  EXPECT_FALSE(Conclude(asked, trials).proof);
}

TEST(Try, ARateThatTeachesByHeartProvesNothing) {
  const TryCase asked = Suspecting({"lr-too-low"});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    const bool quick = spec.find("lr-times=100") != std::string::npos;
    const bool held = Lists(spec, "hold-out") || spec == "stand-in=0.003";
    const Trial trial = MakeTrial(spec, 2.3, quick ? 0.4 : 2.3);
    return held ? Held(trial, 1.2) : trial;
  });
  EXPECT_FALSE(Conclude(asked, trials).proof);
}

TEST(Try, ProgramsWhoseModelsPlayAgainstEachOtherAreNotJudgedByALevel) {
  const TryCase asked = Suspecting({"lr-too-low"});
  const auto trials = PlayOut(asked, [](const std::string& spec) {
    Trial trial = MakeTrial(spec, 2.3, spec.starts_with("lr-times") ? 0.1 : 2.3);
    trial.survey["models"] = trial.survey["optimizers"] = 2;
    return trial;
  });
  EXPECT_FALSE(Conclude(asked, trials).proof);
  EXPECT_EQ(trials.size(), 2U);
}

TEST(Try, ARunThatIsFineIsRunOnce) {
  TryCase asked;
  asked.learns_by_watching = true;
  const auto trials = PlayOut(asked, [](const std::string& spec) { return MakeTrial(spec, 2.3, 0.2); });
  EXPECT_EQ(trials.size(), 1U);
}

TEST(Try, WhereHalfPrecisionIsUsedAnotherScaleProvesNothingBeforeThirtyTwoBitsWereTried) {
  // Goal: targets of 0.001 whose gradients round to zero in float16; another scale helps, the scale was no fault.
  for (const bool by_precision : {true, false}) {
    const TryCase asked = Suspecting({"unscaled-targets"});
    const auto trials = PlayOut(asked, [by_precision](const std::string& spec) {
      const bool cures = spec.find("standardise-targets") != std::string::npos ||
                         (by_precision && spec.find("float32") != std::string::npos);
      Trial trial = MakeTrial(spec, 2.3, cures ? 0.2 : 2.3);
      trial.survey["autocast"] = 1;
      trial.survey["target_scale"] = 0.001;
      return Lists(spec, "hold-out") ? Held(trial, cures ? 0.1 : 1.0) : trial;
    });
    const Conclusions found = Conclude(asked, trials);
    ASSERT_TRUE(found.proof);
    EXPECT_EQ(found.proof->cause, by_precision ? "fp16-underflow" : "unscaled-targets");
  }
}

TEST(Try, AModelIsNotTooSmallWhereItsFaultWasSeen) {
  // Goal: layers that the loss does not reach, seen by their gradients; a plain network learns of course.
  for (const bool seen : {true, false}) {
    TryCase asked = Suspecting({"frozen-or-detached"});
    asked.fault_was_seen = seen;
    const auto trials = PlayOut(asked, [](const std::string& spec) {
      Trial trial = MakeTrial(spec, 2.3, spec == "stand-in=0.003" ? 0.3 : 2.3);
      trial.survey["narrowest"] = 2;
      return Held(trial, spec == "stand-in=0.003" ? 0.4 : 1.0);
    });
    EXPECT_EQ(Conclude(asked, trials).proof.has_value(), !seen);
  }
}

TEST(Try, ASecondSeedThatIsLostSaysThatItFails) {
  const double lost = std::numeric_limits<double>::quiet_NaN();
  const TryCase asked = Suspecting({"lr-too-high"});
  const auto trials = PlayOut(asked, [lost](const std::string& spec) {
    return MakeTrial(spec, 4.0, spec == kAsIs ? 2.0 : spec == "lr-times=0.1" ? 0.2 : lost, false);
  });
  const Conclusions found = Conclude(asked, trials);
  ASSERT_TRUE(found.proof);
  EXPECT_EQ(found.proof->cause, "lr-too-high");
}

TEST(Try, WithoutALevelOfGuessingTheLossMustFallByHalf) {
  std::vector<Trial> trials = {MakeTrial(kAsIs, 5.0, 4.9, false), MakeTrial("seed=1000", 5.0, 4.9, false),
                               MakeTrial("lr-times=10", 5.0, 3.5, false)};
  EXPECT_FALSE(Conclude(Suspecting({"lr-too-low"}), trials).proof);
  trials.back() = MakeTrial("lr-times=100", 5.0, 1.0, false);
  EXPECT_TRUE(Conclude(Suspecting({"lr-too-low"}), trials).proof);
}

}  // namespace
}  // namespace whystop
