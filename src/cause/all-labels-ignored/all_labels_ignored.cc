#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighAllLabelsIgnored(const CaseFile& run, Hypothesis& out) {
  const auto calls = LossCalls(run, {"cross_entropy", "nll_loss"});
  for (const Observation* call : calls) {
    if (NumberOf(*call, "ignored") < 1) {
      continue;
    }
    const std::string text =
        "every target of a batch was " + HumanNumber(NumberOf(*call, "ignore_index")) +
        ", the value that is ignored" + (call->step ? ", at step " + HumanCount(*call->step) : "") +
        ": the mean over nothing is NaN";
    out.Add(NanSeen(run) ? Decisive("loss-call", text) : Supports("loss-call", text));
    return;
  }
}

}  // namespace whystop
