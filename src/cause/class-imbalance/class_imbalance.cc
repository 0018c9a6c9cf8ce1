#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"
#include "model/label_counts.h"

namespace whystop {
namespace {

constexpr std::size_t kCallsMin = 4;

struct Shares {
  double majority = 0;
  std::string text;
  std::optional<double> entropy = {};
};

std::optional<Shares> ByLabels(const CaseFile& run) {
  const auto labels = ObservationsOf(run, "labels");
  if (labels.empty() || NumberOf(*labels.back(), "classes") < 2) {
    return std::nullopt;
  }
  const double majority = NumberOf(*labels.back(), "majority");
  return Shares{majority,
                Percent(majority) + " of the labels are of one class (" +
                    TextOf(*labels.back(), "counts") + ")",
                LabelEntropy(TextOf(*labels.back(), "counts"))};
}

/// The same by the calls of the loss, where the batches were made by hand.
std::optional<Shares> ByLossCalls(const CaseFile& run) {
  const auto calls = LossCalls(run, {"cross_entropy", "nll_loss"});
  double majority = 0;
  for (const Observation* call : calls) {
    if (!call->Number("label_most_share") ||
        call->Number("label_most") != calls.front()->Number("label_most")) {
      return std::nullopt;
    }
    majority += NumberOf(*call, "label_most_share") / static_cast<double>(calls.size());
  }
  if (calls.size() < kCallsMin) {
    return std::nullopt;
  }
  return Shares{majority, Percent(majority) + " of the labels seen are " +
                              HumanNumber(NumberOf(*calls.front(), "label_most"))};
}

/// Binary losses take their labels as fractions: all of them 0 or 1 has the spread of a coin of
/// that mean.
std::optional<Shares> ByBinaryTargets(const CaseFile& run) {
  const auto calls = LossCalls(run, {"binary_cross_entropy", "binary_cross_entropy_with_logits"});
  double mean = 0;
  for (const Observation* call : calls) {
    const double one = NumberOf(*call, "target_mean");
    const double spread = NumberOf(*call, "target_std");
    if (std::abs(spread * spread - one * (1 - one)) > 0.1 * one * (1 - one) + 1e-6) {
      return std::nullopt;
    }
    mean += one / static_cast<double>(calls.size());
  }
  if (calls.size() < kCallsMin || mean <= 0 || mean >= 1) {
    return std::nullopt;
  }
  return Shares{std::max(mean, 1 - mean), Percent(mean) + " of the targets are 1, the others 0"};
}

}  // namespace

void WeighClassImbalance(const CaseFile& run, Hypothesis& out) {
  const LearningView learning = LearningOf(run);
  auto shares = ByLabels(run);
  shares = shares ? shares : ByLossCalls(run);
  shares = shares ? shares : ByBinaryTargets(run);
  if (!shares || LossLost(run) != nullptr || learning.basis == nullptr || shares->majority < 0.9 ||
      shares->majority >= 1) {
    return;
  }
  // What a model reaches that knows the shares of the classes and nothing else.
  const double majority = shares->majority;
  const double two_classes =
      -majority * std::log(majority) - (1 - majority) * std::log(1 - majority);
  const double prior = shares->entropy.value_or(two_classes);
  // By the mean: most batches hold no sample of a rare class, and their loss is next to nothing.
  const double last = learning.basis->Number("last_mean").value_or(0);
  if (last > 0.6 * prior && last < 1.5 * prior) {
    out.Add(Decisive("labels", shares->text + "; the loss ends at " + HumanNumber(last) +
                                   ", where it gets by knowing these shares alone (" +
                                   HumanNumber(prior) + ")"));
    out.Fix("weigh the rare class by about " + HumanNumber(majority / (1 - majority), 2) +
            " (pos_weight or weight of the loss), or draw it more often; judge by recall, not by "
            "accuracy, which is " +
            Percent(majority) + " for a model that knows nothing");
  } else if (LearningFailed(run)) {
    out.Add(Decisive("labels", shares->text));
  }
}

}  // namespace whystop
