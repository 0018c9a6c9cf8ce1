#include <algorithm>

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
  const auto leaves_out = std::find_if(calls.begin(), calls.end(), [](const Observation* call) {
    return call->Number("ignore_index").has_value();
  });
  if (leaves_out == calls.end() || report == nullptr || SpoiltOnTheWay(run)) {
    return;
  }
  out.Add(Supports("tensor", "the loss was NaN" +
                                 (report->step ? " at step " + HumanCount(*report->step) : "") +
                                 " and the step did no harm to the weights, as if its gradients "
                                 "were 0: so are those of the mean over no target, and " +
                                 TextOf(**leaves_out, "function") + " leaves out targets of " +
                                 HumanNumber(NumberOf(**leaves_out, "ignore_index"))));
  out.Add(Missing("loss-call", "the batch that did it: count the targets that are left in each"));
}

}  // namespace whystop
