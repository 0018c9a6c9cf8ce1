#include <algorithm>

#include "base/human.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"

namespace whystop {
namespace {

constexpr double kTooLongMin = 2;   // Times the epochs planned: the rate cannot get beyond half of its height.
constexpr double kStepsAMoveMin = 10;  // A schedule that is moved with every step has one.

}  // namespace

/// A warm-up that is as long as if it were moved at every step, and is moved at every epoch: the rate stays where it
/// begins. What is seen is the plan and the moves, not the rate.
Sign LookWarmUpOutOfReach(const Training& training) {
  double warm_up = 0;
  std::string name;
  for (const Observation* schedule : ObservationsOf(training.run, "scheduler")) {
    const auto seen = As<seen::Scheduler>(*schedule);
    if (OrZero(seen.warmup_moves) > warm_up) {
      warm_up = *seen.warmup_moves;
      name = seen.name.value_or("the schedule");
    }
  }
  const auto counts = CountsOf(training.run);
  const auto epochs = ReadAccount(training.run).epochs.planned;
  if (warm_up == 0 || !counts.scheduler_steps || !epochs) {
    return NotSeenSign();
  }
  const double moves = OrZero(counts.scheduler_steps);  // Made to be moved once, at least: that is an upper bound.
  const double steps = OrZero(counts.steps);
  if (warm_up < kTooLongMin * *epochs || steps < kStepsAMoveMin * moves || steps < warm_up) {
    return NoSign("the warm-up of " + name + " takes " + HumanNumber(warm_up) + " moves, and it was moved " +
                  HumanNumber(moves) + " times in " + HumanNumber(steps) + " steps");
  }
  return YesSign("observation",
                 name + " takes " + HumanNumber(warm_up) + " moves to raise the rate and was moved " +
                     HumanNumber(moves) + " times in " + HumanNumber(steps) + " steps: once an epoch, of which " +
                     HumanNumber(*epochs) + " are planned",
                 {{.name = "warm_up", .value = warm_up, .text = HumanNumber(warm_up)},
                  {.name = "steps", .value = steps, .text = HumanNumber(steps)}},
                 warm_up / (kTooLongMin * *epochs));
}

}  // namespace whystop
