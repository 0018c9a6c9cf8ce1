#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

/// The first value that was not finite came out of sums and products of finite ones.
bool IsOverflow(const Observation& first) {
  const std::string operation = TextOf(first, "operation");
  return TextOf(first, "first") == "loss" && !operation.empty() &&
         NumberOf(first, "operand_from_outside") == 0 &&
         !MentionsAny(operation, {"log", "sqrt", "div", "pow", "reciprocal", "acos", "asin", "norm",
                                  "exp", "softmax", "attention"});
}

}  // namespace

void WeighExplodingGradient(const CaseFile& run, Hypothesis& out) {
  const Finding* growth = run.FindFirst("gradient/exploding");
  const LearningView learning = LearningOf(run);
  const bool failed = LossLost(run) != nullptr || learning.state == Learning::kDiverged;
  if (const Finding* lost = LossLost(run);
      growth == nullptr && lost != nullptr && std::abs(lost->Number("before").value_or(0)) > 1e6) {
    out.Add(Decisive("series",
                     lost->series + " was " + HumanNumber(*lost->Number("before")) +
                         " before it became " + FactText(*lost, "first") +
                         ": the values had run away",
                     lost->facts));
    return;
  }
  const auto reports = ObservationsOf(run, "nonfinite");
  if (growth == nullptr && failed && !reports.empty() && IsOverflow(*reports.front()) &&
      run.FindFirst("data/not-finite") == nullptr && !NanFromTheFirst(run)) {
    out.Add(Decisive("tensor", "values overflowed in " + TextOf(*reports.front(), "operation") +
                                   " (" + TextOf(*reports.front(), "operand_shape") +
                                   "), while weights and inputs were still finite"));
    return;
  }
  if (growth == nullptr || !failed) {
    return;
  }
  const std::string text =
      "gradients grew from " + HumanNumber(growth->Number("from").value_or(0)) + " to " +
      HumanNumber(growth->Number("to").value_or(0)) + " (largest in " + growth->series + ")";
  Evidence evidence = Decisive("series", text, growth->facts);
  evidence.series = growth->series;
  evidence.step_from = growth->step_from;
  evidence.step_to = growth->step_to;
  out.Add(std::move(evidence));
  if (run.FindObservation("clip") == nullptr && run.probe_loaded) {
    out.Fix(
        "clip the gradient's norm: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) before "
        "optimizer.step()");
  }
}

}  // namespace whystop
