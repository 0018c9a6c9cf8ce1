#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "detect/case_script.h"
#include "diagnose/analysis.h"

namespace whystop {
namespace {

Verdict JudgeRun(const std::string& lines) {
  const auto script = ReadCaseScript("# A run.\n" + lines);
  EXPECT_TRUE(script) << script.error().what;
  Analysis analysis;
  for (const Event& event : script->events) {
    analysis.Push(event);
  }
  return analysis.Judge(false);
}

bool BlamesNobody(const Verdict& verdict) {
  return std::none_of(verdict.causes.begin(), verdict.causes.end(),
                      [](const VerdictCause& cause) { return cause.fault; });
}

constexpr char kThreeClasses[] =
    "observe loss-call steps=1 function=cross_entropy call=1 classes=3 grad_enabled=1\n"
    "observe loss-call steps=30 function=cross_entropy call=30 classes=3 grad_enabled=1\n";

/// A policy is judged by what it earns: its loss may rise for as long as it likes.
TEST(Learning, TheRewardOfAPolicyDecides) {
  const Verdict verdict = JudgeRun(
      "series loss steps=1..400 shape=line from=2 to=60 noise=4\n"
      "series ep_rew_mean steps=1..400 every=4 role=train-score shape=line from=20 to=190 noise=6\n"
      "end exit=0\n");
  EXPECT_EQ(verdict.learning, Learning::kImproving) << verdict.learning_text;
  EXPECT_TRUE(BlamesNobody(verdict)) << (verdict.causes.empty() ? "" : verdict.causes[0].id);
}

/// Six thousandths more, and still no better than saying always the same.
TEST(Learning, AnAccuracyAtGuessingDoesNotOverruleALossThatLiesFlat) {
  const std::string run = std::string(kThreeClasses) +
                          "series loss steps=1..500 value=1.097 noise=0.01\n"
                          "series val_acc steps=40..480 every=40 role=validation-score shape=line from=0.34 to=0.346\n"
                          "end exit=0\n";
  EXPECT_EQ(JudgeRun(run).learning, Learning::kNeverLearned) << JudgeRun(run).learning_text;
}

/// In a log neither labels nor calls of the loss are seen: both figures must stand where guessing puts them.
TEST(Learning, AnAccuracyOfOneInTenBesideTheLossOfTenClassesIsGuessing) {
  const std::string loss = "series loss steps=1..1 from=2.43\nseries loss steps=2..40 value=2.303 noise=0.008\n";
  const std::string held_out = "series val_loss steps=1..40 role=validation-loss value=2.3026\n";
  const auto score = [](const std::string& value) {
    return "series val_acc steps=1..40 role=validation-score value=" + value + "\nend exit=0\n";
  };
  const Verdict verdict = JudgeRun(loss + held_out + score("0.1"));
  EXPECT_TRUE(verdict.learning == Learning::kStalled || verdict.learning == Learning::kNeverLearned) << verdict.learning_text;
  EXPECT_NE(verdict.learning_text.find("guessing among 10 classes"), std::string::npos) << verdict.learning_text;
  for (const char* other : {"0.2", "0.125", "0.93"}) {
    EXPECT_EQ(JudgeRun(loss + held_out + score(other)).learning_text.find("guessing among"), std::string::npos) << other;
  }
}

/// Two broken agents were told that they learn, because the error of their value function fell.
TEST(Learning, AFallingLossSaysNothingOfAPolicyThatEarnsNoMore) {
  const Verdict verdict = JudgeRun(
      "series loss steps=1..400 shape=decay from=2 to=0.01 speed=10 noise=0.002\n"
      "series ep_rew_mean steps=1..400 every=4 role=train-score value=9.4 noise=0.3\n"
      "end exit=0\n");
  EXPECT_EQ(verdict.learning, Learning::kUnknown) << verdict.learning_text;
}

/// Its loss jumps by nature, and says nothing of the rate.
TEST(Learning, TheLossOfAPolicyBlamesNoRate) {
  const Verdict verdict = JudgeRun(
      "series loss steps=0..9 from=37 noise=1\n"
      "series loss steps=10..399 shape=sine from=160 amplitude=140 period=40.1\n"
      "series ep_rew_mean steps=1..400 every=4 role=train-score value=106 noise=6\n"
      "end exit=0\n");
  EXPECT_TRUE(BlamesNobody(verdict)) << (verdict.causes.empty() ? "" : verdict.causes[0].id);
}

/// Precision lies flat while recall, and with it the whole, rises.
TEST(Learning, OfSeveralScoresTheOneThatRoseTells) {
  const std::string flat = "series precision steps=1..60 role=validation-score value=0.5 noise=0.005\n";
  EXPECT_EQ(JudgeRun(flat).learning, Learning::kNeverLearned);
  const Verdict verdict =
      JudgeRun(flat + "series fscore steps=1..60 role=validation-score shape=line from=0.52 to=0.71 noise=0.01\n");
  EXPECT_EQ(verdict.learning, Learning::kImproving) << verdict.learning_text;
}

TEST(Learning, AScoreThatIsFlatFromItsFirstValueOnMayHaveBeenLearnedBeforeIt) {
  const Verdict verdict = JudgeRun("series train_acc steps=1..25 role=train-score value=0.8 noise=0.001\nend exit=0\n");
  EXPECT_EQ(verdict.learning, Learning::kUnknown) << verdict.learning_text;
  EXPECT_TRUE(BlamesNobody(verdict));
}

TEST(Learning, GradientsThatWereAskedForInsteadOfABackwardPassMoveTheWeights) {
  const std::string steps =
      "series loss steps=1..200 shape=decay from=4.6 to=2.5 noise=0.4\n"
      "observe counts steps=200 .steps=200 .backwards=0 .zero_grads=0 .loss_calls=2000 .batches=0 .skipped_steps=0\nend exit=0\n";
  EXPECT_EQ(JudgeRun(steps).learning, Learning::kNeverLearned);
  const Verdict verdict = JudgeRun("observe gradients-present steps=3 .steps=3 .tensors=6 .without=0 .frozen=0 .stale=0\n" + steps);
  EXPECT_NE(verdict.learning, Learning::kNeverLearned) << verdict.learning_text;
  EXPECT_TRUE(BlamesNobody(verdict)) << (verdict.causes.empty() ? "" : verdict.causes[0].id);
}

TEST(Learning, ALossThatIsSummedOverTheBatchIsNotHeldAgainstGuessingOnce) {
  const std::string run =
      "series loss steps=1..400 shape=decay from=22 to=0.65 noise=0.02\n"
      "observe loss-call steps=1..400 every=40 function=binary_cross_entropy call=40 grad_enabled=1 input_requires_grad=1 input_shape=32 target_shape=32 "
      "input_min=0.1 input_max=0.9 input_std=0.3 target_min=0 target_max=1 target_mean=0.3 target_std=0.458";
  EXPECT_EQ(JudgeRun(run + "\nend exit=0\n").learning_text.find("guessing") == std::string::npos, false);
  const Verdict verdict = JudgeRun(run + " summed=1\nend exit=0\n");
  EXPECT_EQ(verdict.learning_text.find("guessing"), std::string::npos) << verdict.learning_text;
}

TEST(Learning, AnEnvironmentWithoutARewardOnRecordSaysWhatWouldTell) {
  const Verdict verdict = JudgeRun(
      "observe environment steps=5 libraries=gymnasium\n"
      "series loss steps=1..400 shape=line from=2 to=60 noise=4\n"
      "end exit=0\n");
  EXPECT_EQ(verdict.learning, Learning::kUnknown);
  EXPECT_NE(verdict.learning_text.find("return of its episodes"), std::string::npos)
      << verdict.learning_text;
  EXPECT_TRUE(BlamesNobody(verdict)) << (verdict.causes.empty() ? "" : verdict.causes[0].id);
}

/// A plateau before learning sets in is usual.
TEST(Learning, OfAFlatBeginningLessIsSaid) {
  const std::string flat = "series loss steps=1..300 value=0.69 noise=0.004\nend signal=2\n";
  const Verdict begun = JudgeRun("observe loop-plan steps=1 role=steps planned=50000 level=0 levels=1\nprogress step=300 steps_planned=50000\n" + flat);
  EXPECT_EQ(begun.learning, Learning::kUnknown) << begun.learning_text;
  EXPECT_NE(begun.learning_text.find("too early to say"), std::string::npos) << begun.learning_text;
  const Verdict done = JudgeRun("observe loop-plan steps=1 role=steps planned=300 level=0 levels=1\nprogress step=300 steps_planned=300\n" + flat);
  EXPECT_EQ(done.learning, Learning::kNeverLearned) << done.learning_text;
}

/// PyTorch's own examples change their weights without an optimizer.
TEST(Learning, WeightsThatWereSeenToChangeByHandHaveMoved) {
  const std::string run =
      "observe counts steps=90 .steps=0 backwards=90\n"
      "series loss steps=1..90 value=0.7 noise=0.2\n";
  const Verdict still = JudgeRun(
      run + "observe updates-by-hand steps=16 backwards=16 tensors=2 changed=0\nend exit=0\n");
  EXPECT_EQ(still.learning, Learning::kNeverLearned) << still.learning_text;
  const Verdict moved = JudgeRun(
      run + "observe updates-by-hand steps=16 backwards=16 tensors=2 changed=2\nend exit=0\n");
  EXPECT_EQ(moved.learning, Learning::kUnknown) << moved.learning_text;
}

/// 2.1 -> 4e8 -> 1.05 with three classes: what it fell by is what it had been thrown up by.
TEST(Learning, AnExplodedRunThatCameDownToGuessingHasDiverged) {
  const Verdict verdict = JudgeRun(
      std::string(kThreeClasses) +
      "series loss steps=1..20 value=2.1 noise=0.05\n"
      "series loss steps=21..60 value=400000000 noise=10000\n"
      "series loss steps=61..600 shape=decay from=400000 to=1.05 speed=40 relative_noise=0.02\n"
      "end exit=0\n");
  EXPECT_EQ(verdict.learning, Learning::kDiverged) << verdict.learning_text;
}

/// A regression is held against the mean of its targets, however many of its calls were seen; of numbers a tenth may be all that can be foreseen.
TEST(Learning, TheDistanceFromTheMeanOfTheTargetsIsTold) {
  const auto judge = [](const std::string& series) {
    return JudgeRun("observe optimizer steps=0 name=Adam lr=0.001 tensors=4\n"
                    "observe loss-call steps=1..400 every=20 function=mse_loss call=60 grad_enabled=1 input_std=0.2 input_mean=0 "
                    "target_mean=0 target_std=1 input_shape=64x1 target_shape=64x1\n" +
                    series + "end exit=0\n");
  };
  const Verdict close = judge("series loss steps=1..400 shape=decay from=1.05 to=0.99 speed=30 noise=0.01\n");
  EXPECT_EQ(close.learning, Learning::kStalled) << close.learning_text;
  EXPECT_NE(close.learning_text.find("close to the mean of the targets"), std::string::npos) << close.learning_text;
  const Verdict far = judge("series loss steps=1..400 shape=decay from=1.05 to=0.9 speed=30 noise=0.01\n");
  EXPECT_EQ(far.learning, Learning::kConverged) << far.learning_text;
  EXPECT_NE(far.learning_text.find("% below the mean of the targets, which costs 1"), std::string::npos) << far.learning_text;
}

/// The distance from guessing is in the answer, and a loss that is hardly below it is no success.
TEST(Learning, CloseToGuessingIsNotStillImproving) {
  const Verdict close = JudgeRun(
      std::string(kThreeClasses) +
      "series loss steps=1..120 shape=line from=1.138 to=1.075 noise=0.002\nend exit=0\n");
  EXPECT_EQ(close.learning, Learning::kUnknown) << close.learning_text;
  EXPECT_NE(close.learning_text.find("below guessing, which costs 1.099"), std::string::npos)
      << close.learning_text;
  const Verdict far = JudgeRun(
      std::string(kThreeClasses) +
      "series loss steps=1..120 shape=line from=1.138 to=0.4 noise=0.02\nend exit=0\n");
  EXPECT_EQ(far.learning, Learning::kImproving) << far.learning_text;
  EXPECT_NE(far.learning_text.find("% below guessing"), std::string::npos) << far.learning_text;
}

TEST(Learning, ALossThatIsTheSameToItsLastDigitDoesNotChange) {
  const Verdict verdict = JudgeRun("series loss steps=1..10 value=1.0986122886681098\nend exit=0\n");
  EXPECT_EQ(verdict.learning, Learning::kNeverLearned);
  EXPECT_NE(verdict.learning_text.find("nothing changes"), std::string::npos)
      << verdict.learning_text;
  // What is printed with two digits may stand still in print alone.
  EXPECT_EQ(JudgeRun("series loss steps=1..10 value=0.69\nend exit=0\n").learning,
            Learning::kUnknown);
}

TEST(Learning, OverfittingIsMentionedWhereTheHeldOutLossDoubles) {
  const Verdict verdict = JudgeRun(
      "series loss steps=1..400 shape=decay from=2.3 to=0.05 speed=8 noise=0.01\n"
      "series val_loss steps=1..100 every=20 role=validation-loss shape=line from=2.2 to=1.1\n"
      "series val_loss steps=120..400 every=20 role=validation-loss shape=line from=1.1 to=2.6\n"
      "end exit=0\n");
  EXPECT_NE(verdict.learning_text.find("it overfits"), std::string::npos) << verdict.learning_text;
}

/// What one of two adversaries loses the other wins.
TEST(Learning, LossesOfAdversariesNeedNotFall) {
  const std::string run =
      "series loss steps=1..260 shape=decay from=7 to=-24 speed=40 noise=0.5\n"
      "series loss steps=261..500 shape=line from=-24 to=-2 noise=0.5\n";
  EXPECT_EQ(JudgeRun(run + "end exit=0\n").learning, Learning::kStalled);
  const Verdict others =
      JudgeRun(run + "observe counts steps=500 .steps=1000 backwards=1000 other_losses=500\nend exit=0\n");
  EXPECT_EQ(others.learning, Learning::kUnknown) << others.learning_text;
  EXPECT_TRUE(BlamesNobody(others));
  const Verdict named = JudgeRun(
      "observe optimizer steps=1 name=Adam\nobserve model steps=1 name=Discriminator\n"
      "observe optimizer steps=2 name=Adam\nobserve model steps=2 name=Generator\n"
      "series loss steps=1..500 shape=decay from=0.7 to=0.001 speed=10 relative_noise=0.1\nend exit=0\n");
  EXPECT_EQ(named.learning, Learning::kUnknown) << named.learning_text;
}

TEST(Learning, ABoundThatTurnsNanIsNoticedWithoutAnyLoss) {
  const Verdict verdict = JudgeRun(
      "series lower_bound steps=1..30 role=train-score shape=line from=-150 to=-120 noise=2\n"
      "series lower_bound steps=31..100 role=train-score value=nan\nend exit=0\n");
  EXPECT_EQ(verdict.learning, Learning::kDiverged) << verdict.learning_text;
}

}  // namespace
}  // namespace whystop
