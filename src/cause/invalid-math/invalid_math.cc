#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

/// The loss had run away before it became infinite: overflow, not bad mathematics.
bool GrewBefore(const CaseFile& run, const Finding& lost) {
  for (const Finding& finding : run.findings) {
    if (finding.detector == "loss/trend" && finding.series == lost.series) {
      const double before = std::abs(lost.Number("before").value_or(0));
      return before > 1e6 || before > 100 * std::abs(finding.Number("first").value_or(0));
    }
  }
  return false;
}

/// The loss had been falling, and nothing had grown: what made the weights NaN came at once.
bool FellInOneStep(const CaseFile& run, const Finding* lost) {
  if (lost == nullptr || !lost->Number("before")) {
    return false;
  }
  for (const Finding& finding : run.findings) {
    if (finding.detector == "loss/trend" && finding.series == lost->series) {
      return FactText(*lost, "first") == "nan" && finding.Number("points").value_or(0) >= 3 &&
             std::abs(*lost->Number("before")) < 2 * std::abs(finding.Number("first").value_or(0));
    }
  }
  return false;
}

bool RefusedAtAnyScale(const CaseFile& run, Hypothesis& out) {
  const Finding* scale = run.FindFirst("scale/keeps-falling");
  if (scale != nullptr && scale->Number("last").value_or(1) < 1e-4 &&
      scale->Number("skipped_share").value_or(0) > 0.9) {
    out.Add(Decisive("series",
                     "the scaler refused nearly every step even at a scale of " +
                         HumanNumber(scale->Number("last").value_or(0)) +
                         ": no overflow survives that, the gradients are NaN by themselves",
                     scale->facts));
    return true;
  }
  return false;
}

/// Between the loader and the model.
bool WeighTheWay(const CaseFile& run, const std::string& at, Hypothesis& out) {
  if (!SpoiltOnTheWay(run)) {
    return false;
  }
  out.Add(Decisive("batch",
                   "what the model was given was not finite" + at +
                       ", though the batches were as the loader gave them: something between the "
                       "two divides by zero, or takes a logarithm or root that is not there"));
  return true;
}

/// Where no operation is known: by the layer, or by what was the first to be lost.
void WeighWhatCameFirst(const CaseFile& run, const Observation& first, const Finding* lost,
                        const std::string& at, Hypothesis& out) {
  const std::string what = TextOf(first, "first");
  const Observation* layer = run.FindObservation("nonfinite-layer");
  if (layer != nullptr && NumberOf(*layer, "inputs_finite") > 0 &&
      NumberOf(*layer, "weights_finite") > 0) {
    if (MentionsAny(TextOf(*layer, "module") + TextOf(*layer, "type"),
                    {"attn", "attention", "softmax"})) {
      return;  // masked-softmax-nan owns that.
    }
    out.Add(Decisive("tensor", "module " + TextOf(*layer, "module") + " (" +
                                   TextOf(*layer, "type") +
                                   ") made NaN out of finite inputs and finite weights" + at));
  } else if (what == "loss" && NanThatHurtNothing(run) == nullptr) {
    out.Add(Decisive("tensor", "the loss itself was the first thing that was not finite" + at +
                                   ": weights, inputs and earlier gradients were"));
  } else if (what == "weight" && FellInOneStep(run, lost)) {
    out.Add(Decisive("tensor", lost->series + " was " +
                                   HumanNumber(lost->Number("before").value_or(0)) +
                                   " and sound; one step later " + TextOf(first, "weight_names") +
                                   " were NaN" + at +
                                   ": the backward pass of a finite loss gave NaN, as that of "
                                   "sqrt, norm or pow does at 0"));
    out.Fix("add a small number inside the root or the norm: torch.sqrt(x + 1e-8)");
  } else if (what == "gradient") {
    out.Add(Decisive(
        "tensor",
        "the backward pass of a finite loss gave NaN" + at + ", first in " +
            TextOf(first, "gradient_names") +
            ": a derivative that does not exist there, such as that of sqrt or norm at 0"));
  }
}

}  // namespace

void WeighInvalidMath(const CaseFile& run, Hypothesis& out) {
  if (RefusedAtAnyScale(run, out)) {
    return;
  }
  const Finding* lost = LossLost(run);
  const auto reports = ObservationsOf(run, "nonfinite");
  if (reports.empty() || (lost == nullptr && NumberOf(*reports.front(), "weights") == 0)) {
    return;
  }
  const Observation& first = *reports.front();
  const std::string at = first.step ? " at step " + HumanCount(*first.step) : "";
  if (WeighTheWay(run, at, out)) {
    return;
  }
  const std::string what = TextOf(first, "first");
  const bool grew = run.FindFirst("gradient/exploding") != nullptr ||
                    run.FindFirst("update/ratio-too-large") != nullptr ||
                    (lost != nullptr && GrewBefore(run, *lost));
  const bool half = run.FindFirst("scale/keeps-falling") != nullptr || UsesHalf(run);
  if (grew || half || NumberOf(first, "bad_input") > 0 ||
      run.FindFirst("data/not-finite") != nullptr) {
    return;
  }
  const std::string operation = TextOf(first, "operation");
  if (NanFromTheFirst(run) && NanThatHurtNothing(run) == nullptr) {
    out.Add(Decisive("tensor",
                     "the very first loss was NaN, seen first in " + operation +
                         ", and weights and inputs were of ordinary size: a logarithm, root or "
                         "division before it has no value there"));
    return;
  }
  if (NumberOf(first, "operand_from_outside") > 0 ||
      MentionsAny(operation, {"softmax", "attention"})) {
    return;  // The data, masked-softmax-nan, or outputs that overflowed.
  }
  if (MentionsAny(operation,
                  {"log", "sqrt", "div", "pow", "reciprocal", "acos", "asin", "norm", "exp"})) {
    out.Add(Decisive("tensor", "the first value that was not finite was " +
                                   TextOf(first, "operand") + " of " + operation + at +
                                   "; weights and inputs were finite"));
    return;
  }
  if (!operation.empty() && what == "loss") {
    return;  // Sums and products do not turn finite values into NaN: they overflow.
             // exploding-gradient owns that.
  }
  WeighWhatCameFirst(run, first, lost, at, out);
}

}  // namespace whystop
