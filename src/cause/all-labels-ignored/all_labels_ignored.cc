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
  const Observation* report = NanThatHurtNothing(run);
  if (calls.empty() || report == nullptr || SpoiltOnTheWay(run)) {
    return;
  }
  out.Add(Supports("tensor", "the loss was NaN" +
                                 (report->step ? " at step " + HumanCount(*report->step) : "") +
                                 ", and did no harm to the weights: its gradients were 0, as those "
                                 "of the mean over no target are"));
  out.Add(Supports("loss-call", TextOf(*calls.front(), "function") + " leaves out targets of " +
                                    HumanNumber(NumberOf(*calls.front(), "ignore_index"))));
}

}  // namespace whystop
