#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/beside_guessing.h"
#include "sign/loop_exit.h"
#include "sign/near_guessing.h"
#include "sign/observed.h"
#include "sign/policy.h"
#include "sign/says_less.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

// The one line for "still near guessing": a model that is worth anything gets below it soon.
constexpr double kLittle = 0.6;
constexpr double kPointsMin = 20;

std::string DescribeShare(const Training& training) {
  return training.learning.text + ", " + Percent(training.share) +
         (training.classifies ? " of what guessing costs (" : " of what the targets' mean costs (") +
         HumanNumber(training.guess.value_or(0)) + ")";
}

/// The loss of adversaries and that of a policy go up and down by their nature.
bool MaySwing(const Training& training) {
  return training.optimizers > 1 || EarnsReward(training.run);
}

}  // namespace

Sign LookTrainingFailed(const Training& training) {
  return AnswerSign(training.failed, "series", training.learning.text);
}

/// It ended, or was ended, when a small part of its plan was done.
Sign LookBarelyBegun(const Training& training) {
  const double share = ShareOfPlanDone(training.run);
  return share == 0 ? NotSeenSign()
                    : AnswerSign(share < kBarelyBegun, "loop", Percent(share) + " of what was planned was done");
}

Sign LookNotSeenToLearn(const Training& training) {
  return AnswerSign(training.not_seen_to_learn, "series", training.learning.text);
}

Sign LookLearnedLittle(const Training& training) {
  if (!training.guess || training.points < kPointsMin) {
    return NotSeenSign();
  }
  const std::string text = DescribeShare(training);
  return training.share > kLittle && training.lost == nullptr
             ? YesSign("series", text, {}, training.share / kLittle)
             : NoSign(text);
}

/// A part of the model may be enough to learn much, and not all.
Sign LookMuchUnlearned(const Training& training) {
  constexpr double kMuch = 0.35;
  constexpr double kEnough = 50;
  if (!training.guess || training.points < kEnough) {
    return NotSeenSign();
  }
  return AnswerSign(training.share > kMuch && training.lost == nullptr, "series", DescribeShare(training));
}

/// Hardly anything was learned, after time enough to learn something.
Sign LookNearGuessing(const Training& training) {
  constexpr double kNear = 0.8;
  constexpr double kEnough = 50;
  if (!training.guess || training.points < kEnough) {
    return NotSeenSign();
  }
  const std::string text = DescribeShare(training);
  return training.share > kNear && training.lost == nullptr
             ? YesSign("series", text, {}, training.share / kNear)
             : NoSign(text);
}

Sign LookLossStuck(const Training& training) {
  return AnswerSign(training.learning.state == Learning::kStalled ||
                        training.learning.state == Learning::kNeverLearned,
                    "series", training.learning.text);
}

Sign LookLossStalled(const Training& training) {
  return AnswerSign(training.learning.state == Learning::kStalled, "series",
                    training.learning.text);
}

Sign LookLossImproves(const Training& training) {
  return AnswerSign(training.learning.Good(), "series", training.learning.text);
}

Sign LookLossAtGuessing(const Training& training) {
  const std::string text = DescribeGuessing(training.run);
  if (!text.empty()) {
    return YesSign("series", text);
  }
  return training.guess && training.points >= kPointsMin ? NoSign(DescribeShare(training))
                                                         : NotSeenSign();
}

/// The last third of the run brought its full share of the fall, below the level of guessing.
Sign LookStillFallingFast(const Training& training) {
  // A run that was cut off had more steps ahead of it.
  constexpr double kWhole = 0.9;
  const double done = ShareOfPlanDone(training.run);
  if (training.learning.state != Learning::kImproving || !training.guess || training.run.job_alive || (done > 0 && done < kWhole)) {
    return NoSign();
  }
  constexpr double kShareMin = 0.3;
  const double last = training.BasisNumber("last");
  // What lies above the loss of guessing is no learning: outputs get their size, no more.
  const double drop = std::min(training.BasisNumber("first"), *training.guess) - last;
  const double late_drop = -training.BasisNumber("end_change");
  return AnswerSign(drop > 0 && late_drop > kShareMin * drop, "series",
                    training.learning.text + ": it fell as fast at the end as before");
}

/// `max_steps` goes before `num_train_epochs`. Three epochs are what nobody asked for.
Sign LookStepsCutTheEpochs(const Training& training) {
  constexpr double kNotAsked = 3;
  constexpr double kShare = 0.5;
  const auto plan = As<seen::Framework>(training.run.FindObservation(seen::Framework::kKind));
  const double asked = OrZero(plan.epochs_asked);
  const double steps = OrZero(plan.steps_asked);
  const bool cut = steps > 0 && asked > 0 && asked != kNotAsked && plan.epochs && *plan.epochs < kShare * asked;
  return AnswerSign(cut, "framework",
                    "max_steps=" + HumanNumber(steps, 9) + " ended it within " + HumanNumber(OrZero(plan.epochs)) + " of the " +
                        HumanNumber(asked) + " epochs that num_train_epochs asks for: max_steps goes first");
}

/// A framework counts epochs, and learning is made of steps: a batch that holds all the data, or steps_per_epoch.
Sign LookOneStepAnEpoch(const Training& training) {
  constexpr double kBatchesMax = 2;
  constexpr double kStepsMax = 100;
  constexpr double kFell = 0.98;
  const Observation* plan = training.run.FindObservation("framework");
  const Observation* end = training.run.FindObservation("framework-end");
  if (plan == nullptr || end == nullptr || !training.guess || training.learning.basis == nullptr) {
    return NotSeenSign();
  }
  const double batches = OrZero(As<seen::Framework>(*plan).batches);
  const double steps = OrZero(As<seen::FrameworkEnd>(*end).global_step);
  const double last = training.BasisNumber("last");
  const bool few = batches > 0 && batches <= kBatchesMax && steps > batches && steps <= kStepsMax;
  const bool falls = last < kFell * training.BasisNumber("first") && last > kLittle * *training.guess;
  return AnswerSign(few && falls && training.lost == nullptr, "series",
                    "an epoch was " + HumanNumber(batches) + (batches > 1 ? " steps, " : " step, ") +
                        HumanNumber(steps) + " in all: the loss came from " +
                        HumanNumber(training.BasisNumber("first")) + " to " + HumanNumber(last) +
                        ", and guessing costs " + HumanNumber(*training.guess));
}

/// After so many steps at the level of guessing it is not the steps that are missing.
Sign LookManyStepsAtGuessing(const Training& training) {
  constexpr double kManyPoints = 500;
  constexpr double kAtGuessing = 0.95;
  return AnswerSign(training.points >= kManyPoints && training.share > kAtGuessing, "series",
                    DescribeShare(training));
}

Sign LookLossSwings(const Training& training) {
  // One that learned may be noisy.
  constexpr double kLearned = 0.7;
  const bool learned =
      training.learning.Good() || (training.share > 0 && training.share < kLearned);
  const Finding* basis = training.learning.basis;
  const bool of_both_signs = basis != nullptr && TakesBothSigns(*basis);
  const Finding* swings =
      MaySwing(training) || learned || of_both_signs ? nullptr : training.run.FindFirst("loss/oscillates");
  return ByFinding(swings, "series",
                   swings == nullptr
                       ? std::string()
                       : swings->series + " keeps jumping up to " +
                             HumanNumber(swings->Number("highest").value_or(0)) +
                             ", far above its start of " +
                             HumanNumber(swings->Number("start").value_or(0)));
}

Sign LookLossDiverged(const Training& training) {
  // A loss below zero has no reason to fall to any level, and one that was lost did not rise.
  const bool rose = training.learning.state == Learning::kDiverged && training.lost == nullptr &&
                    !LeftForALossNotFinite(training.run) && training.BasisNumber("last") > 0 &&
                    training.optimizers <= 1 && training.run.FindFirst("loss/spike") == nullptr;
  return AnswerSign(rose, "series", training.learning.text);
}

/// Its own steps threw the loss far above what guessing costs, and what it came down to since is not much better than guessing.
Sign LookLossThrown(const Training& training) {
  constexpr double kFarAbove = 20;
  constexpr double kOfItsStart = 5;  // Else it began that high, because of its first outputs.
  constexpr double kCameBack = 0.3;
  if (!training.guess || !training.classifies || training.optimizers > 1) {
    return NotSeenSign();
  }
  const double worst = training.BasisNumber("worst");
  const bool thrown = worst > kFarAbove * *training.guess && worst > kOfItsStart * training.BasisNumber("begin");
  return AnswerSign(thrown && training.share > kCameBack, "series",
                    "the loss was thrown up to " + HumanNumber(worst) + ", where guessing costs " +
                        HumanNumber(*training.guess) + ", and ended at " + HumanNumber(training.BasisNumber("last")));
}

/// It had learned something within a few steps, and lost it again for good: beyond what noise makes of five neighbouring values.
Sign LookGainWasLost(const Training& training) {
  constexpr double kGained = 0.85;  // Of what guessing costs.
  constexpr double kLost = 0.95;
  constexpr double kNoises = 5;     // Standard errors of a mean of five.
  const double lowest = training.learning.basis == nullptr ? 0 : training.learning.basis->Number("lowest_run").value_or(0);
  if (!training.guess || !training.classifies || training.optimizers > 1 || EarnsReward(training.run) || lowest <= 0) {
    return NotSeenSign();
  }
  const double last = training.BasisNumber("last");
  const bool lost = lowest < kGained * *training.guess && last > kLost * *training.guess &&
                    last - lowest > kNoises * training.BasisNumber("noise") / std::sqrt(5.0);
  return AnswerSign(lost && training.lost == nullptr, "series",
                    "the loss had come down to " + HumanNumber(lowest) + " for some steps, where guessing costs " +
                        HumanNumber(*training.guess) + ", and went back to " + HumanNumber(last));
}

/// To minus infinity: a matter of the loss, not of the rate.
Sign LookLossRanDown(const Training& training) {
  const double last = training.BasisNumber("last");
  // To its lowest value, that is; the loss of a policy goes up and down about zero, and a bound on a likelihood
  // begins far below it.
  const bool ran_down = training.learning.state == Learning::kDiverged && training.lost == nullptr &&
                        last < 0 && last < training.BasisNumber("first");
  return AnswerSign(ran_down && last < 0.9 * training.BasisNumber("best"), "series",
                    training.learning.text + ": a loss with no lower end, such as cross-entropy "
                                             "with labels outside 0 to 1");
}

/// A further optimizer made its first step there: a stage of its own, with a new head or another task.
bool BeginsAnew(const CaseFile& run, const Finding& spike) {
  constexpr double kNear = 5;  // Steps.
  const auto at = static_cast<double>(spike.step_from.value_or(spike.step_to.value_or(0)));
  const auto optimizers = ObservationsOf(run, seen::Optimizer::kKind);
  return std::any_of(optimizers.begin(), optimizers.end(), [at](const Observation* optimizer) {
    return OrZero(optimizer->step) > 0 && std::abs(OrZero(optimizer->step) - at) <= kNear;
  });
}

Sign LookLossJumped(const Training& training) {
  const Finding* spike = training.run.FindFirst("loss/spike");
  if (spike != nullptr && BeginsAnew(training.run, *spike)) {
    return NoSign("a new optimizer began where the loss jumped: another stage");
  }
  return ByFinding(spike, "series",
                   spike == nullptr
                       ? std::string()
                       : spike->series + " jumped from " +
                             HumanNumber(spike->Number("usual_loss").value_or(0)) + " to " +
                             HumanNumber(spike->Number("loss").value_or(0)) +
                             " and has stayed near " +
                             HumanNumber(spike->Number("loss_since").value_or(0)));
}

/// It had come down to a fraction of its start and rested there, at a rate that nobody moved, until it was thrown: such a
/// rate is not too high for it. What came then was.
Sign LookJumpedAfterLongRest(const Training& training) {
  constexpr double kOfItsStart = 0.1;
  constexpr double kStepsMin = 500;
  const Finding* spike = training.run.FindFirst("loss/spike");
  const double begin = training.BasisNumber("begin");
  if (spike == nullptr || begin <= 0 || BeginsAnew(training.run, *spike)) {
    return NoSign();
  }
  const double usual = spike->Number("usual_loss").value_or(begin);
  const auto at = static_cast<double>(spike->step_from.value_or(0));
  return AnswerSign(usual < kOfItsStart * begin && at >= kStepsMin && OrZero(CountsOf(training.run).scheduler_steps) == 0, "series",
                    spike->series + " had come down from " + HumanNumber(begin) + " to " + HumanNumber(usual) +
                        " at this learning rate, before it was thrown up at step " + HumanCount(*spike->step_from));
}

Sign LookHeldOutTurned(const Training& training) {
  const Finding* turned = training.run.FindFirst("loss/overfit");
  return ByFinding(
      turned, "series",
      turned == nullptr
          ? std::string()
          : turned->series + " was best at " + HumanNumber(turned->Number("best").value_or(0)) +
                (turned->Number("best_at").value_or(0) < 0.01 ? " at the beginning of the run"
                                                              : " after " + Percent(*turned->Number("best_at")) + " of the run") +
                " and ended at " + HumanNumber(turned->Number("end").value_or(0)) +
                ", " + HumanNumber(turned->Number("rise_in_noise_units").value_or(0), 2) +
                " times its noise higher, while the training loss fell on");
}

Sign LookHeldOutAtGuessing(const Training& training) {
  const Finding* held_out = HeldOutAtGuessing(training.run, training.learning);
  return ByFinding(held_out, "series",
                   held_out == nullptr
                       ? std::string()
                       : held_out->series + " was at its best " +
                             HumanNumber(held_out->Number("best").value_or(0)) +
                             ", which is no better than guessing, while that of training fell to " +
                             HumanNumber(training.BasisNumber("last")));
}

/// The held-out loss is far above that of training, and not far below where training began.
Sign LookHeldOutFarAbove(const Training& training) {
  constexpr double kTimes = 2;
  constexpr double kHarmMin = 0.25;
  if (!training.learning.Good()) {
    return NotSeenSign();
  }
  for (const Finding& finding : training.run.findings) {
    const double last = finding.Number("last").value_or(0);
    if (finding.detector == "loss/trend" && FactText(finding, "role") == "validation-loss" &&
        last > kTimes * training.BasisNumber("last") &&
        last > kHarmMin * training.BasisNumber("first")) {
      return ByFinding(&finding, "series",
                       finding.series + " ends at " + HumanNumber(last) + " while " +
                           training.learning.text);
    }
  }
  return NoSign();
}

}  // namespace whystop
