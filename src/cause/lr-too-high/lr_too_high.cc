#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

/// What a sound update is, as a share of the weights.
constexpr double kSoundRatio = 0.002;

bool DataIsLarge(const CaseFile& run) {
  return RegressionTargetSize(run).value_or(0) > 30 ||
         (ModelInput(run) != nullptr && SizeOf(*ModelInput(run)) > 30);
}

/// Adam's steps are as large as the rate makes them; those of plain descent may be large because
/// the data are.
void WeighUpdates(const CaseFile& run, const Finding& large, Hypothesis& out) {
  const double ratio = large.Number("ratio").value_or(0);
  const double most = std::max(ratio, large.Number("ratio_highest").value_or(0));
  if (ShrinkPerStep(run) > ratio / 2) {
    return;  // It is the decay that changes them: over-regularised.
  }
  const auto rate = LearningRate(run);
  std::string text = "each step changed the weights by " + Percent(ratio) + " of their size";
  if (most > 2 * ratio) {
    text += ", at worst by " + Percent(most);
  }
  const std::string with_rate = rate ? "lr " + HumanNumber(*rate) + ": " + text : text;
  if (IsAdaptive(run) || !DataIsLarge(run)) {
    out.Add(Decisive("tensor", with_rate, large.facts));
  } else {
    out.Add(Supports("tensor", with_rate, large.facts));
  }
  if (rate) {
    out.Fix("lr " + HumanNumber(*rate) + ": the update was " + Percent(ratio) +
            " of the weights each step; try " +
            HumanNumber(RoundFactor(*rate, kSoundRatio / std::max(ratio, kSoundRatio * 3))));
  }
}

/// The updates that did it were over after a few steps; the weights show them still.
void WeighGrowth(const CaseFile& run, const Finding& outgrown, Hypothesis& out) {
  const auto rate = LearningRate(run);
  const std::string text =
      (rate ? "lr " + HumanNumber(*rate) + ": " : std::string()) + "the weights grew to " +
      HumanNumber(outgrown.Number("factor").value_or(0), 2) + " times their size within " +
      HumanNumber(outgrown.Number("steps").value_or(0)) + " steps";
  out.Add(IsAdaptive(run) || !DataIsLarge(run) ? Decisive("tensor", text, outgrown.facts)
                                               : Supports("tensor", text, outgrown.facts));
}

/// A loop that tests its loss ends before updates can be looked at. But the outputs were: ordinary
/// before the first step, and a thousand times their own size and that of the targets a few steps
/// later. A rate that is out of the usual range for its optimizer says why.
void WeighOutputs(const CaseFile& run, Hypothesis& out) {
  constexpr double kJumpMin = 1e3;
  const auto calls = LossCalls(
      run, {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "nll_loss"});
  const auto rate = LearningRate(run);
  if (calls.size() < 2 || NumberOf(*calls.front(), "call") > 1 || NumberOf(*calls[1], "call") > 5 ||
      !rate) {
    return;
  }
  const double before = OutputSize(*calls.front());
  const double after = OutputSize(*calls[1]);
  const double usual = std::max(
      {before,
       std::hypot(NumberOf(*calls.front(), "target_mean"), NumberOf(*calls.front(), "target_std")),
       1e-6});
  const bool data_is_large = ModelInput(run) != nullptr && SizeOf(*ModelInput(run)) > 30;
  if (after < kJumpMin * usual || data_is_large || *rate < (IsAdaptive(run) ? 0.1 : 1)) {
    return;
  }
  out.Add(Supports("loss-call", "the outputs grew from " + HumanNumber(before) + " to " +
                                    HumanNumber(after) + " within " +
                                    HumanNumber(NumberOf(*calls[1], "call") - 1) + " steps"));
  out.Add(Supports("optimizer", "lr " + HumanNumber(*rate) + " is far above what " +
                                    OptimizerName(run) + " is used with"));
}

/// Too high a rate drives the loss up before it is lost. One that was ordinary to its last value,
/// with updates smaller than the weights, was ended by something else: a bad sample, a forbidden
/// operation.
bool WasOrdinaryToTheEnd(const CaseFile& run, const Finding& lost) {
  const LearningView learning = LearningOf(run);
  const Finding* large = run.FindFirst("update/ratio-too-large");
  if (learning.basis == nullptr || learning.basis->Number("points").value_or(0) < 3 ||
      !lost.Number("before")) {
    return false;
  }
  const double most = large == nullptr ? 0
                                       : std::max(large->Number("ratio").value_or(0),
                                                  large->Number("ratio_highest").value_or(0));
  return std::abs(*lost.Number("before")) <=
             1.5 * std::abs(learning.basis->Number("first").value_or(0)) &&
         most < 1 && run.FindFirst("gradient/exploding") == nullptr;
}

}  // namespace

void WeighLrTooHigh(const CaseFile& run, Hypothesis& out) {
  const Finding* lost = LossLost(run);
  const LearningView learning = LearningOf(run);
  // The loss of adversaries goes up and down by its nature, and one that learned may be noisy.
  const bool adversaries = ObservationsOf(run, "optimizer").size() > 1;
  const double share = ShareOfGuessing(run);
  const bool learned = learning.Good() || (share > 0 && share < 0.7);
  const Finding* swings = adversaries || learned ? nullptr : run.FindFirst("loss/oscillates");
  const bool ran_down =
      learning.basis != nullptr && learning.basis->Number("last").value_or(0) < 0 &&
      learning.state ==
          Learning::kDiverged;  // To minus infinity: a matter of the loss, not of the rate.
  // Seen at every step and never finite: it was lost before the rate could do anything.
  const bool lost_at_first = run.probe_loaded && lost != nullptr && learning.basis != nullptr &&
                             learning.basis->Number("points").value_or(0) == 0;
  const bool failed = LearningFailed(run) || swings != nullptr || NanSeen(run);
  if (!failed || ran_down || lost_at_first || ConstantFromTheStart(run) ||
      run.FindFirst("data/not-finite") != nullptr ||
      (lost != nullptr && WasOrdinaryToTheEnd(run, *lost))) {
    return;
  }
  const Finding* large = run.FindFirst("update/ratio-too-large");
  const Finding* outgrown = run.FindFirst("weights/outgrown");
  if (large != nullptr) {
    WeighUpdates(run, *large, out);
  } else if (outgrown != nullptr && lost == nullptr) {
    WeighGrowth(run, *outgrown, out);
  } else {
    WeighOutputs(run, out);
  }
  // A scaler that refuses every step, or gradients that are never reset, explain a failure without
  // the rate.
  if (swings != nullptr) {
    out.Add(Supports("series",
                     swings->series + " keeps jumping up to " +
                         HumanNumber(swings->Number("highest").value_or(0)) +
                         ", far above its start of " +
                         HumanNumber(swings->Number("start").value_or(0)),
                     swings->facts));
  }
  if (learning.state == Learning::kDiverged && lost == nullptr && learning.basis != nullptr &&
      !adversaries && run.FindFirst("loss/spike") == nullptr) {
    out.Add(Supports("series", learning.text, learning.basis->facts));
  }
  if (large == nullptr && !out.evidence().empty() && !run.probe_loaded) {
    out.Add(
        Missing("probe", "how large the updates were beside the weights; the probe measures it"));
  }
}

}  // namespace whystop
