#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighFp16Overflow(const CaseFile& run, Hypothesis& out) {
  if (const Finding* scale = run.FindFirst("scale/keeps-falling")) {
    const double skipped = scale->Number("skipped").value_or(0);
    if (scale->Number("last").value_or(1) < 1e-4 &&
        scale->Number("skipped_share").value_or(0) > 0.9) {
      return;  // No overflow survives such a scale: these gradients are NaN at any. invalid-math
               // owns that.
    }
    out.Add(
        Decisive("series",
                 "the loss scale fell from " + HumanNumber(scale->Number("first").value_or(0)) +
                     " to " + HumanNumber(scale->Number("last").value_or(0)) +
                     (skipped > 0 ? "; " + HumanNumber(skipped) + " steps were thrown away (" +
                                        Percent(scale->Number("skipped_share").value_or(0)) + ")"
                                  : ""),
                 scale->facts));
    return;
  }
  const Finding* lost = LossLost(run);
  if (lost == nullptr || !UsesHalf(run) || run.FindFirst("data/not-finite") != nullptr) {
    return;
  }
  out.Add(Supports("model", std::string(OutputsAreHalf(run) ? "the outputs" : "the weights") +
                                " are float16, whose largest number is 65504"));
  out.Add(Supports("series", lost->series + " became " + FactText(*lost, "first"), lost->facts));
}

}  // namespace whystop
