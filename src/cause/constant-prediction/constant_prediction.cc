#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighConstantPrediction(const CaseFile& run, Hypothesis& out) {
  if (!NotSeenToLearn(run) || LossLost(run) != nullptr) {
    return;
  }
  // Also on held-out data: the few calls that are looked at may all be of validation.
  const auto calls =
      LossCalls(run,
                {"cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss",
                 "binary_cross_entropy", "binary_cross_entropy_with_logits"},
                Calls::kAll);
  const Finding* flat = run.FindFirst("loss/plateau-from-start");
  if (!calls.empty()) {
    const Observation& last = *calls.back();
    if (NumberOf(last, "call") >= 10 && GivesOneAnswer(last, 1e-3)) {
      out.Add(Decisive("loss-call", "the outputs are the same for every sample: they differ by " +
                                        HumanNumber(NumberOf(last, "rows_std_mean")) +
                                        " at a size of " + HumanNumber(OutputSize(last))));
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
