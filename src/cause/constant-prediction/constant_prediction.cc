#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighConstantPrediction(const CaseFile& run, Hypothesis& out) {
  if (!NotSeenToLearn(run) || LossLost(run) != nullptr) {
    return;
  }
  const auto calls =
      LossCalls(run, {"cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss",
                      "binary_cross_entropy", "binary_cross_entropy_with_logits"});
  const Finding* flat = run.FindFirst("loss/plateau-from-start");
  if (!calls.empty()) {
    const Observation& last = *calls.back();
    const auto spread = last.Number("rows_std_mean");
    const double size = std::hypot(NumberOf(last, "input_mean"), NumberOf(last, "input_std"));
    if (NumberOf(last, "call") >= 10 && spread && *spread < 1e-3 * size) {
      out.Add(Decisive("loss-call", "the outputs are the same for every sample: they differ by " +
                                        HumanNumber(*spread) + " at a size of " +
                                        HumanNumber(size)));
    }
  } else if (flat != nullptr && !FactText(*flat, "guess").empty() && !run.probe_loaded) {
    out.Add(Supports("series",
                     flat->series + " stays at " + HumanNumber(flat->Number("level").value_or(0)) +
                         ", the level of guessing (" + FactText(*flat, "guess") + ")",
                     flat->facts));
    out.Add(Missing(
        "probe",
        "whether the outputs differ from sample to sample; whether weights and gradients move"));
  }
}

}  // namespace whystop
