#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

bool Warned(const CaseFile& run) {
  for (const Observation* warning : ObservationsOf(run, "warning")) {
    if (MentionsAny(TextOf(*warning, "message"), {"lr_scheduler.step()` before"})) {
      return true;
    }
  }
  return run.FindLog("scheduler-order", LogFact::Role::kContext) != nullptr ||
         run.FindLog("scheduler-order", LogFact::Role::kRoot) != nullptr;
}

}  // namespace

// The order by itself costs one value of the schedule. It is to blame when the schedule moves with
// every batch and has used up the rate.
void WeighSchedulerOrder(const CaseFile& run, Hypothesis& out) {
  const double turns = Counted(run, "scheduler_steps").value_or(0);
  const double steps = Counted(run, "steps").value_or(0);
  const Finding* spent = LearningFailed(run) ? run.FindFirst("lr/zero") : nullptr;
  spent = spent != nullptr ? spent : RateSpentEarly(run);
  if (!Warned(run) || spent == nullptr || steps < 5) {
    return;
  }
  out.Add(Supports("warning",
                   "scheduler.step() is called before optimizer.step(): the first value of the "
                   "schedule is never used"));
  out.Add(Supports("series",
                   spent->series + " was used up early, after " + HumanNumber(turns) +
                       " moves of the schedule in " + HumanNumber(steps) + " steps",
                   spent->facts));
  out.Fix(
      "call scheduler.step() after optimizer.step(), and once an epoch if its settings count "
      "epochs");
}

}  // namespace whystop
