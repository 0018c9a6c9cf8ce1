#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "diagnose/analysis.h"

namespace whystop {
namespace {

double Normal(std::mt19937_64& random) { return std::normal_distribution<double>(0, 1)(random); }

void Push(Analysis& analysis, const std::string& series, SeriesRole role, double value, int step) {
  Scalar scalar;
  scalar.series = series;
  scalar.role = role;
  scalar.value = value;
  scalar.step = step;
  analysis.Push({RunTime(step), scalar});
}

bool Names(const Verdict& verdict, const std::string& id) {
  return std::any_of(verdict.causes.begin(), verdict.causes.end(),
                     [&id](const VerdictCause& cause) { return cause.id == id; });
}

/// From a loss that triples to one that grows a millionfold, at several lengths and noises.
TEST(SickRuns, GrowingLossesAreCalledDiverged) {
  for (const double factor : {3.0, 10.0, 1e3, 1e6}) {
    for (const int points : {10, 30, 300}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        std::mt19937_64 random(seed);
        Analysis analysis;
        for (int i = 0; i < points; ++i) {
          const double grown = 2.3 * std::pow(factor, std::min(1.0, 1.5 * i / points));
          Push(analysis, "loss", SeriesRole::kTrainLoss, grown * (1 + 0.05 * Normal(random)), i);
        }
        const Verdict verdict = analysis.Judge(false);
        EXPECT_EQ(verdict.learning, Learning::kDiverged)
            << factor << ", " << points << " points: " << verdict.learning_text;
      }
    }
  }
}

/// Forty points with 3 % noise could hide a fall of 3 %: "cannot say" is the right answer there.
TEST(SickRuns, FlatLossesAreCalledNeverLearned) {
  for (const double noise : {0.001, 0.01, 0.03}) {
    for (const int points : {40, 300, 3000}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        std::mt19937_64 random(seed);
        Analysis analysis;
        for (int i = 0; i < points; ++i) {
          Push(analysis, "loss", SeriesRole::kTrainLoss, 2.303 * (1 + noise * Normal(random)), i);
        }
        const Verdict verdict = analysis.Judge(false);
        const bool may_hide =
            noise > 0.02 && points < 100 && verdict.learning == Learning::kUnknown;
        EXPECT_TRUE(verdict.learning == Learning::kNeverLearned || may_hide)
            << noise << ", " << points << " points: " << verdict.learning_text;
      }
    }
  }
}

TEST(SickRuns, AValidationLossThatTurnsIsOverfitting) {
  for (const double rise : {0.3, 0.6, 1.5}) {
    for (const int epochs : {15, 40, 120}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        std::mt19937_64 random(seed);
        Analysis analysis;
        for (int i = 1; i <= epochs; ++i) {
          const double x = static_cast<double>(i) / epochs;
          Push(analysis, "loss", SeriesRole::kTrainLoss,
               0.05 + 1.5 * std::exp(-5 * x) + 0.005 * Normal(random), i);
          const double held_out =
              x < 0.3 ? 0.7 + 0.8 * (0.3 - x) / 0.3 : 0.7 + rise * (x - 0.3) / 0.7;
          Push(analysis, "val_loss", SeriesRole::kValidationLoss, held_out + 0.015 * Normal(random),
               i);
        }
        EXPECT_TRUE(Names(analysis.Judge(false), "overfitting"))
            << rise << ", " << epochs << " epochs, seed " << seed;
      }
    }
  }
}

TEST(SickRuns, ALossThatIsLostIsNamed) {
  for (const int lost_at : {0, 1, 5, 100}) {
    Analysis analysis;
    for (int i = 0; i < lost_at + 30; ++i) {
      Push(analysis, "loss", SeriesRole::kTrainLoss, i < lost_at ? 2.3 - 0.01 * i : std::nan(""),
           i);
    }
    const Verdict verdict = analysis.Judge(false);
    EXPECT_EQ(verdict.learning, Learning::kDiverged) << "lost at " << lost_at;
    EXPECT_TRUE(Names(verdict, "loss-nan")) << "lost at " << lost_at;
  }
}

}  // namespace
}  // namespace whystop
