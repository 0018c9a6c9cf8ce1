#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "diagnose/analysis.h"

namespace whystop {
namespace {

/// One kind of healthy run: a loss as a function of how far the run is (0 to 1), with the
/// randomness given.
struct Kind {
  std::string name;
  std::function<double(double, std::mt19937_64&)> loss;
};

double Normal(std::mt19937_64& random) { return std::normal_distribution<double>(0, 1)(random); }

std::vector<Kind> HealthyKinds() {
  const auto decay = [](double from, double to, double speed) {
    return [=](double x) { return to + (from - to) * std::exp(-speed * x); };
  };
  return {
      {"plain", [=](double x, auto& r) { return decay(2.3, 0.3, 5)(x) + 0.03 * Normal(r); }},
      {"noisy small batches",
       [=](double x, auto& r) { return decay(2.3, 0.4, 6)(x) * std::exp(0.4 * Normal(r)); }},
      {"warm-up",
       [=](double x, auto& r) {
         return (x < 0.1 ? 10.8 - 5 * x : decay(10.3, 4, 4)((x - 0.1) / 0.9)) + 0.05 * Normal(r);
       }},
      {"cosine",
       [](double x, auto& r) {
         return 0.5 + 0.9 * (1 + std::cos(std::numbers::pi * x)) + 0.05 * Normal(r);
       }},
      {"one-cycle bump",
       [=](double x, auto& r) {
         return decay(2.3, 0.2, 4)(x) + 0.5 * std::exp(-50 * (x - 0.3) * (x - 0.3)) +
                0.03 * Normal(r);
       }},
      {"warm restarts",
       [=](double x, auto& r) {
         return decay(2.3, 0.6, 8)(x) + 0.15 * std::abs(std::sin(3 * std::numbers::pi * x)) +
                0.02 * Normal(r);
       }},
      {"to zero",
       [](double x, auto& r) { return 2.0 * std::exp(-14 * x) * std::exp(0.3 * Normal(r)); }},
      {"negative", [=](double x, auto& r) { return decay(3, -40, 4)(x) + 0.8 * Normal(r); }},
      {"large values",
       [=](double x, auto& r) { return decay(5e5, 2e4, 5)(x) * (1 + 0.1 * Normal(r)); }},
      {"tiny values",
       [=](double x, auto& r) { return decay(4e-4, 3e-5, 5)(x) * (1 + 0.1 * Normal(r)); }},
      {"late start",
       [=](double x, auto& r) {
         return (x < 0.3 ? 2.3 : decay(2.3, 0.4, 6)((x - 0.3) / 0.7)) + 0.02 * Normal(r);
       }},
      {"spikes that recover",
       [=](double x, auto& r) {
         return decay(2.3, 0.5, 5)(x) + 0.03 * Normal(r) + (r() % 97 == 0 ? 6 : 0);
       }},
      {"first step far out",
       [=](double x, auto& r) { return x == 0 ? 300 : decay(8, 1.5, 5)(x) + 0.1 * Normal(r); }},
  };
}

Scalar Point(std::string series, SeriesRole role, double value, std::int64_t step) {
  Scalar scalar;
  scalar.series = std::move(series);
  scalar.role = role;
  scalar.value = value;
  scalar.step = step;
  return scalar;
}

std::string Blamed(const Verdict& verdict) {
  std::string ids;
  for (const VerdictCause& cause : verdict.causes) {
    ids += cause.fault ? " " + cause.id : "";
  }
  return ids;
}

/// Goal: no healthy run is blamed for anything, whatever its length, noise and way of logging.
/// Method: thirteen shapes x lengths x ways to print x seeds; the verdict must name no fault, and
/// learning must not be called bad.
TEST(HealthyRuns, AreBlamedForNothing) {
  int runs = 0;
  for (const Kind& kind : HealthyKinds()) {
    for (const int points : {2, 3, 5, 8, 12, 20, 50, 200, 1000, 5000}) {
      for (const bool running_mean : {false, true}) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
          std::mt19937_64 random(seed * 7919 + static_cast<std::uint64_t>(points));
          Analysis analysis;
          double mean = 0;
          for (int i = 0; i < points; ++i) {
            const double value =
                kind.loss(static_cast<double>(i) / std::max(points - 1, 1), random);
            mean = i % std::max(points / 5, 1) == 0
                       ? value
                       : mean + (value - mean) / (i % std::max(points / 5, 1) + 1);
            analysis.Push({RunTime(i),
                           Point("loss", SeriesRole::kTrainLoss, running_mean ? mean : value, i)});
          }
          const Verdict verdict = analysis.Judge(false);
          const std::string what = kind.name + ", " + std::to_string(points) +
                                   (running_mean ? " running means" : " points");
          EXPECT_EQ(Blamed(verdict), "") << what << ": " << verdict.learning_text;
          EXPECT_NE(verdict.learning, Learning::kDiverged) << what << ": " << verdict.learning_text;
          EXPECT_NE(verdict.learning, Learning::kNeverLearned)
              << what << ": " << verdict.learning_text;
          ++runs;
        }
      }
    }
  }
  EXPECT_GE(runs, 500);
}

/// Losses of players against each other swing and rise; rewards are noise for long. Nobody is to
/// blame.
TEST(HealthyRuns, AdversariesAndRewardsAreBlamedForNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    Analysis analysis;
    for (int i = 0; i < 600; ++i) {
      const double x = i / 600.0;
      analysis.Push({RunTime(i), Point("loss_D", SeriesRole::kLossPart,
                                       0.6 + 0.3 * std::sin(i / 9.0) + 0.1 * Normal(random), i)});
      analysis.Push({RunTime(i), Point("loss_G", SeriesRole::kLossPart,
                                       0.7 + 4 * x + std::sin(i / 7.0) + 0.3 * Normal(random), i)});
      analysis.Push({RunTime(i), Point("reward", SeriesRole::kTrainScore,
                                       20 + 150 * x * x + 25 * Normal(random), i)});
    }
    EXPECT_EQ(Blamed(analysis.Judge(false)), "") << "seed " << seed;
  }
}

/// A validation loss noisier than its trend, and one that levels out above the training loss, are
/// no overfitting.
TEST(HealthyRuns, NoisyValidationIsNotOverfitting) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::mt19937_64 random(seed);
    Analysis analysis;
    const int epochs = 5 + static_cast<int>(seed % 40);
    for (int i = 1; i <= epochs; ++i) {
      const double fall = std::exp(-3.0 * i / epochs);
      analysis.Push({RunTime(i), Point("loss", SeriesRole::kTrainLoss,
                                       0.2 + 1.5 * fall + 0.01 * Normal(random), i)});
      analysis.Push({RunTime(i), Point("val_loss", SeriesRole::kValidationLoss,
                                       0.5 + 1.1 * fall + 0.06 * Normal(random), i)});
    }
    EXPECT_EQ(Blamed(analysis.Judge(false)), "") << "seed " << seed << ", " << epochs << " epochs";
  }
}

/// The same events, judged in between, give the same verdict at the end.
TEST(HealthyRuns, LiveFindingsEqualThoseAtTheEnd) {
  std::mt19937_64 random(1);
  Analysis live;
  Analysis late;
  for (int i = 0; i < 300; ++i) {
    const Event event{RunTime(i),
                      Point("loss", SeriesRole::kTrainLoss, 2.3 + 0.02 * Normal(random), i)};
    live.Push(event);
    late.Push(event);
    static_cast<void>(live.Findings());
  }
  const auto a = live.Findings();
  const auto b = late.Findings();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].detector, b[i].detector);
    EXPECT_EQ(a[i].strength, b[i].strength);
  }
}

}  // namespace
}  // namespace whystop
