#include "base/human.h"
#include "model/observations.h"
#include "sign/learning_rate.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {

Sign LookRateAlwaysZero(const Training& training) {
  const Finding* zero = training.run.FindFirst("lr/zero");
  const bool always = zero != nullptr && zero->Number("always").value_or(0) > 0;
  return ByFinding(always ? zero : nullptr, "series",
                   always ? zero->series + " is 0 in every step" : std::string());
}

Sign LookRateEndedAtZero(const Training& training) {
  const Finding* zero = training.run.FindFirst("lr/zero");
  const bool later = zero != nullptr && zero->Number("always").value_or(0) == 0;
  return ByFinding(later ? zero : nullptr, "series",
                   later ? zero->series + " is 0 for the last " +
                               Percent(zero->Number("share").value_or(0)) + " of the run"
                         : std::string());
}

/// The learning rate was next to nothing long before the end, and the run shows it.
Sign LookRateSpentEarly(const Training& training) {
  const Finding* decayed = RateSpentEarly(training.run);
  return ByFinding(decayed, "series",
                   decayed == nullptr
                       ? std::string()
                       : decayed->series + " fell from " +
                             HumanNumber(decayed->Number("highest").value_or(0)) + " to " +
                             HumanNumber(decayed->Number("last").value_or(0)) +
                             " and stayed there for " +
                             Percent(decayed->Number("share").value_or(0)) + " of the run");
}

Sign LookScheduleBeforeStep(const Training& training) {
  bool warned = training.run.FindLog("scheduler-order", LogFact::Role::kContext) != nullptr ||
                training.run.FindLog("scheduler-order", LogFact::Role::kRoot) != nullptr;
  for (const Observation* warning : ObservationsOf(training.run, "warning")) {
    warned = warned || MentionsAny(As<seen::Warning>(*warning).message.value_or(""), {"lr_scheduler.step()` before"});
  }
  return AnswerSign(warned, "warning",
                    "scheduler.step() is called before optimizer.step(): the first value of the "
                    "schedule is never used; it moved " +
                        HumanNumber(OrZero(CountsOf(training.run).scheduler_steps)) +
                        " times in " + HumanNumber(OrZero(CountsOf(training.run).steps)) +
                        " steps");
}

}  // namespace whystop
