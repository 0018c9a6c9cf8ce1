#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighSchedulerOrder(const CaseFile& run, Hypothesis& out) {
  const LogFact* line = run.FindLog("scheduler-order", LogFact::Role::kRoot);
  if (line != nullptr && !LearningFailed(run)) {
    out.Add(Contradicts("series", "the order cost one step of the schedule at most: " + LearningOf(run).text));
  }
}

}  // namespace whystop
