#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighTargetBroadcast(const CaseFile& run, Hypothesis& out) {
  if (const Observation* table = run.FindObservation("broadcast-difference")) {
    out.Add(Decisive("loss", "the loss subtracts targets from outputs of shape " +
                                 TextOf(*table, "output_shape") + " and gets a table of shape " +
                                 TextOf(*table, "shape") +
                                 ": every output is compared with every target"));
    out.Fix("give both the same shape: target.view_as(output), or output.squeeze(-1)");
    return;
  }
  const auto calls = LossCalls(run, {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"});
  for (const Observation* call : calls) {
    const std::string output = TextOf(*call, "input_shape");
    const std::string target = TextOf(*call, "target_shape");
    if (output.empty() || target.empty() || output == target || output == "scalar" ||
        target == "scalar") {
      continue;
    }
    out.Add(Decisive("loss-call", TextOf(*call, "function") + " was given outputs of shape " +
                                      output + " and targets of shape " + target +
                                      ": every output is compared with every target"));
    out.Fix("give both the same shape: target.view_as(output), or output.squeeze(-1)");
    return;
  }
}

}  // namespace whystop
