#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighLrZero(const CaseFile& run, Hypothesis& out) {
  const LearningView learning = LearningOf(run);
  if (const Finding* zero = run.FindFirst("lr/zero")) {
    const bool always = zero->Number("always").value_or(0) > 0;
    if (always || !learning.Good()) {
      Evidence evidence = Decisive(
          "series",
          zero->series + " is 0 " +
              (always
                   ? "in every step"
                   : "for the last " + Percent(zero->Number("share").value_or(0)) + " of the run"),
          zero->facts);
      evidence.series = zero->series;
      evidence.step_from = zero->step_from;
      out.Add(std::move(evidence));
    }
    return;
  }
  if (const Finding* decayed = RateSpentEarly(run)) {
    out.Add(Supports(
        "series",
        decayed->series + " fell from " + HumanNumber(decayed->Number("highest").value_or(0)) +
            " to " + HumanNumber(decayed->Number("last").value_or(0)) + " and stayed there for " +
            Percent(decayed->Number("share").value_or(0)) + " of the run",
        decayed->facts));
    out.Add(Supports("series", learning.text));
  }
}

}  // namespace whystop
