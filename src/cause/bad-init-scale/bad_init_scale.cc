#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

namespace {

// What a layer makes of a signal of size 1 is the root of the sum of its squared weights, for each
// output: 0.58 with PyTorch's own initialisation, 1 to 1.4 with Xavier's and Kaiming's.
constexpr double kGainMin = 0.25;
constexpr double kLayersMin = 4;
constexpr double kSmall = 0.01;  // Weights of that size have to grow before anything is learned.
constexpr double kOutputsWild = 100;
constexpr double kAnswersDiffer = 1e-3;  // Of the outputs' size, as for constant-prediction.

/// Each layer makes the signal smaller: after a few of them nothing is left.
void WeighGain(const CaseFile& run, Hypothesis& out) {
  const Observation* gain = run.FindObservation("initial-gain");
  const Observation* model = run.FindObservation("model");
  const bool normalised = model != nullptr && !TextOf(*model, "norms").empty();
  if (gain == nullptr || normalised || NumberOf(*gain, "matrices") < kLayersMin ||
      NumberOf(*gain, "median") > kGainMin || NumberOf(*gain, "median") <= 0) {
    return;
  }
  out.Add(Decisive("tensor", "a layer began with a gain of " +
                                 HumanNumber(NumberOf(*gain, "median"), 2) +
                                 ": the signal of the inputs is that much smaller behind each of " +
                                 HumanNumber(NumberOf(*gain, "matrices")) + " layers"));
}

bool MostTensors(const Finding* odd) {
  return odd != nullptr && odd->Number("of").value_or(0) >= 2 &&
         2 * odd->Number("tensors").value_or(0) > odd->Number("of").value_or(0);
}

}  // namespace

void WeighBadInitScale(const CaseFile& run, Hypothesis& out) {
  const Finding* odd = run.FindFirst("weights/initial-scale");
  const auto calls = ObservationsOf(run, "loss-call");
  const bool one_answer = !calls.empty() && GivesOneAnswer(*calls.back(), kAnswersDiffer);
  const bool hurt =
      LearningFailed(run) || (one_answer && NotSeenToLearn(run)) ||
      (MostTensors(odd) && odd->Number("rms").value_or(1) < kSmall && StillNearGuessing(run));
  // A loss may be lost for many reasons; outputs that were far off before the first step are one.
  const bool wild = MostTensors(odd) && !calls.empty() && NumberOf(*calls.front(), "call") == 1 &&
                    OutputSize(*calls.front()) > kOutputsWild;
  if (!hurt || (LossLost(run) != nullptr && !wild) || run.FindFirst("data/not-finite") != nullptr) {
    return;
  }
  if (odd == nullptr) {
    WeighGain(run, out);
    return;
  }
  out.Add(Decisive("tensor",
                   odd->series + " began with weights of size " +
                       HumanNumber(odd->Number("rms").value_or(0)) + "; " +
                       HumanNumber(odd->Number("tensors").value_or(0)) + " of " +
                       HumanNumber(odd->Number("of").value_or(0)) + " weight tensors are like that",
                   odd->facts));
}

}  // namespace whystop
