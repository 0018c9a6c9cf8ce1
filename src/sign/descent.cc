#include <algorithm>
#include <cmath>
#include <optional>

#include "base/human.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/observed.h"
#include "sign/says_less.h"
#include "sign/signs.h"
#include "sign/training.h"

namespace whystop {
namespace {

constexpr double kPairsMin = 20;

/// The stretches of the run joined: how well gradients of consecutive steps agree, and what all
/// steps together promised to take off the loss.
struct DescentSums {
  double pairs = 0;
  double agreement = 0;
  double error = 0;
  double promised = 0;
  double updates = 0;
};

DescentSums SumsOf(const Training& training) {
  DescentSums sums;
  for (const Observation* stretch : ObservationsOf(training.run, "descent")) {
    const auto stretch_seen = As<seen::Descent>(stretch);
    const double pairs = OrZero(stretch_seen.pairs);
    const double steps = stretch_seen.to.value_or(0) - stretch_seen.from.value_or(0) + 1;
    const double error = stretch_seen.agreement_error.value_or(0);
    sums.pairs += pairs;
    sums.agreement += pairs * stretch_seen.agreement.value_or(0);
    sums.error += pairs * pairs * error * error;
    sums.promised += steps * stretch_seen.promised.value_or(0);
    sums.updates += OrZero(stretch_seen.updates);
  }
  sums.agreement /= std::max(sums.pairs, 1.0);
  sums.error = std::sqrt(sums.error) / std::max(sums.pairs, 1.0);
  return sums;
}

std::string DescribeAgreement(const DescentSums& sums) {
  return "gradients of consecutive steps agree by " + HumanNumber(sums.agreement, 2) + " (+-" +
         HumanNumber(sums.error, 1) + ")";
}

std::string DescribePromise(const Training& training, const DescentSums& sums) {
  return "all steps together promised to take " + HumanNumber(sums.promised, 2) +
         " off a loss that began at " + HumanNumber(training.BasisNumber("first"));
}

}  // namespace

/// There is a slope to follow, and no step gets along it: good runs at rest agree less.
Sign LookGradientsAgree(const Training& training) {
  constexpr double kClearly = 0.1;
  const DescentSums sums = SumsOf(training);
  if (sums.pairs < kPairsMin) {
    return NotSeenSign();
  }
  const std::string text = DescribeAgreement(sums);
  return sums.agreement > kClearly && sums.agreement > 2 * sums.error
             ? YesSign("tensor", text + ": there is a slope to follow", {},
                       sums.agreement / kClearly)
             : NoSign(text);
}

/// Every batch says something else.
Sign LookGradientsUnrelated(const Training& training) {
  constexpr double kNone = 0.05;
  const DescentSums sums = SumsOf(training);
  if (sums.pairs < kPairsMin || sums.error > kNone) {
    return NotSeenSign();
  }
  const std::string text = DescribeAgreement(sums);
  return std::abs(sums.agreement) < kNone
             ? YesSign("tensor", text + ": no batch says the same as another")
             : NoSign(text);
}

/// The loss falls though no batch says anything about the next one: it is learned sample by sample, over passes in which the same ones
/// come back, and most of it is still unknown. Noise that is there to stay lets a loss fall early, and then no more.
Sign LookFallsByHeart(const Training& training) {
  constexpr double kUnknown = 0.7;  // Of what guessing costs.
  constexpr double kPassesMin = 3;
  constexpr double kLateMin = 0.15;  // Of the whole fall, in the last third.
  const Sign unrelated = LookGradientsUnrelated(training);
  const double passes = ReadAccount(training.run).epochs.done.value_or(0);
  if (unrelated.answer == Seen::kNotSeen || !training.guess || passes < kPassesMin) {
    return NotSeenSign();
  }
  const double fall = std::min(training.BasisNumber("first"), *training.guess) - training.BasisNumber("last");
  const bool falls = training.learning.Good() && fall > 0 && -training.BasisNumber("end_change") > kLateMin * fall;
  return AnswerSign(unrelated.Yes() && falls && training.share > kUnknown, "series",
                    training.learning.text + ", while no batch says anything about another: it is learned by heart");
}

Sign LookStepsPromiseLittle(const Training& training) {
  constexpr double kLittle = 0.03;  // Of the loss: less than its noise hides.
  const DescentSums sums = SumsOf(training);
  const double first = std::abs(training.BasisNumber("first"));
  if (sums.updates < kPairsMin || first == 0) {
    return NotSeenSign();
  }
  const std::string text = DescribePromise(training, sums);
  return sums.promised > 0 && sums.promised < kLittle * first ? YesSign("tensor", text)
                                                              : NoSign(text);
}

/// The steps of the end promise a tenth of what the first ones did, or less: the bottom is near,
/// whatever the height of it.
Sign LookSlopeRanOut(const Training& training) {
  constexpr double kLeft = 0.1;
  const auto stretches = ObservationsOf(training.run, "descent");
  if (stretches.size() < 2 || SumsOf(training).updates < kPairsMin) {
    return NotSeenSign();
  }
  const double first = As<seen::Descent>(*stretches.front()).promised.value_or(0);
  const double last = As<seen::Descent>(*stretches.back()).promised.value_or(0);
  const std::string text = "a step promised to take " + HumanNumber(first, 2) +
                           " off the loss at first, " + HumanNumber(last, 2) + " at the end";
  return first > 0 && last < kLeft * first ? YesSign("tensor", text) : NoSign(text);
}

/// A good run may promise far more than it keeps, too: it convicts nobody whose loss fell.
Sign LookStepsPromiseTooMuch(const Training& training) {
  constexpr double kTimes = 20;
  const DescentSums sums = SumsOf(training);
  const double first = std::abs(training.BasisNumber("first"));
  // Where another optimizer moves the aim, nobody owes what was promised.
  if (sums.updates < kPairsMin || first == 0 || TrainsAdversaries(training.run) || HasOtherLosses(training.run)) {
    return NotSeenSign();
  }
  const std::string text = DescribePromise(training, sums) + ", and it ended at " +
                           HumanNumber(training.BasisNumber("last"));
  return sums.promised > kTimes * first && training.not_seen_to_learn ? YesSign("tensor", text)
                                                                      : NoSign(text);
}

}  // namespace whystop
