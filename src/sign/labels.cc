#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "base/human.h"
#include "base/parse.h"
#include "model/label_counts.h"
#include "model/observations.h"
#include "sign/guessing.h"
#include "sign/loss_calls.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

constexpr std::size_t kCallsMin = 4;
constexpr double kSamplesMin = 8;
constexpr double kMajority = 0.9;
constexpr double kTwiceAsMany = 2;

bool IsRare(const std::optional<ClassShares>& shares) {
  return shares && shares->majority >= kMajority && shares->majority < 1;
}

/// How many classes a batch of mixed data holds.
double ExpectedClasses(double classes, double samples) {
  return classes * (1 - std::pow(1 - 1 / classes, samples));
}

bool TooFew(double distinct, double expected) { return distinct < 0.5 * expected + 0.1; }

std::string DescribeBatch(double samples, double distinct, double classes) {
  return "a batch of " + HumanNumber(samples) + " samples holds " + HumanNumber(distinct, 2) +
         " of " + HumanNumber(classes) + " classes; mixed data would hold " +
         HumanNumber(ExpectedClasses(classes, samples), 2);
}

/// The labels of the calls of a loss: how many kinds at a time, and whether batches share any.
struct Kinds {
  double distinct = 0;
  double samples = 0;
  double lowest = 0;
  double highest = 0;
  double highest_min = 0;
  double lowest_max = 0;
};

std::optional<Kinds> KindsOf(const std::vector<const Observation*>& calls) {
  Kinds kinds;
  double looked_at = 0;
  for (const Observation* call : calls) {
    const auto call_seen = As<seen::LossCall>(call);
    const auto& distinct = call_seen.label_distinct;
    const auto size = ParseWhole<double>(call_seen.target_shape.value_or(""));
    if (!distinct || !size || *size < kSamplesMin) {
      return std::nullopt;
    }
    const double low = call_seen.label_min.value_or(0);
    const double high = call_seen.label_max.value_or(0);
    kinds.lowest = looked_at == 0 ? low : std::min(kinds.lowest, low);
    kinds.highest = looked_at == 0 ? high : std::max(kinds.highest, high);
    kinds.highest_min = looked_at == 0 ? low : std::max(kinds.highest_min, low);
    kinds.lowest_max = looked_at == 0 ? high : std::min(kinds.lowest_max, high);
    kinds.distinct += static_cast<double>(*distinct);
    kinds.samples += *size;
    ++looked_at;
  }
  kinds.distinct /= std::max(looked_at, 1.0);
  kinds.samples /= std::max(looked_at, 1.0);
  return looked_at > 0 ? std::optional(kinds) : std::nullopt;
}

const Observation* TrainingLoader(const CaseFile& run) {
  const Observation* training = nullptr;
  for (const Observation* loader : ObservationsOf(run, "loader")) {
    training =
        training == nullptr || OrZero(As<seen::Loader>(loader).dataset_len) > OrZero(As<seen::Loader>(training).dataset_len)
            ? loader
            : training;
  }
  return training;
}

}  // namespace

Sign LookLabelsRare(const Training& training) {
  const auto shares = SharesOfClasses(training.run);
  if (!shares) {
    return NotSeenSign();
  }
  const double majority = shares->majority;
  Sign sign = IsRare(shares) ? YesSign("labels", shares->text, {}, majority / kMajority)
                             : NoSign(shares->text);
  sign.facts.push_back(
      {.name = "weight", .text = HumanNumber(majority / std::max(1 - majority, 1e-9), 2)});
  sign.facts.push_back({.name = "majority", .text = Percent(majority)});
  return sign;
}

Sign LookTargetsDrawn(const Training& training) {
  const Observation* drawn = training.run.FindObservation("targets-drawn");
  const auto drawn_seen = As<seen::TargetsDrawn>(drawn);
  return drawn == nullptr ? NoSign()
                          : YesSign("probe", "the targets are random numbers: " + drawn_seen.name.value_or("") +
                                                 " is what " + drawn_seen.call.value_or("") + "() gave in line " +
                                                 HumanNumber(OrZero(drawn_seen.line), 9));
}

/// A class that the loss does not count: whatever the model says of it is right.
Sign LookClassWeightsSilence(const Training& training) {
  const std::string weights = As<seen::Framework>(training.run.FindObservation("framework")).class_weight.value_or("");
  const auto labels = ObservationsOf(training.run, "labels");
  const auto counts = labels.empty() ? std::map<std::string, double>{} : ByLabel(As<seen::Labels>(*labels.back()).counts.value_or(""));
  std::string silent;
  for (const auto& [label, weight] : ByLabel(weights)) {
    if (weight == 0 && counts.contains(label)) {
      silent += (silent.empty() ? "" : ", ") + label;
    }
  }
  return AnswerSign(!silent.empty(), "labels",
                    "class_weight is " + weights + ": the loss of class " + silent +
                        " counts for nothing, though its samples are among the data");
}

/// Weights are to lift the rare class: here the frequent one weighs more.
Sign LookClassWeightsReversed(const Training& training) {
  const std::string told = As<seen::Framework>(training.run.FindObservation("framework")).class_weight.value_or("");
  const auto labels = ObservationsOf(training.run, "labels");
  const std::string counted = labels.empty() ? std::string() : As<seen::Labels>(*labels.back()).counts.value_or("");
  const auto weights = ByLabel(told);
  const auto counts = ByLabel(counted);
  if (weights.size() < 2 || counts.size() != 2) {
    return NotSeenSign();
  }
  const auto& [first, first_count] = *counts.begin();
  const auto& [second, second_count] = *counts.rbegin();
  const std::string& rare = first_count < second_count ? first : second;
  const std::string& frequent = first_count < second_count ? second : first;
  const bool reversed = weights.contains(rare) && weights.contains(frequent) && weights.at(rare) < weights.at(frequent) &&
                        counts.at(frequent) > kTwiceAsMany * counts.at(rare);
  return AnswerSign(reversed, "labels", "class_weight is " + told + ", and the labels are " + counted +
                                            ": the class that is rare counts for less than the other");
}

/// max(0, 1 - label * output), with a label of 0, is 1 whatever the output: that class teaches nothing.
Sign LookMarginLabelsWithoutSign(const Training& training) {
  const auto calls = LossCalls(training.run, {"margin_by_hand"});
  const auto labels = ObservationsOf(training.run, "labels");
  if (calls.empty() || labels.empty()) {
    return NotSeenSign();
  }
  const bool zero_and_one =
      As<seen::Labels>(*labels.back()).min == 0 && As<seen::Labels>(*labels.back()).max == 1;
  return AnswerSign(zero_and_one, "loss-call",
                    "the loss is a margin, max(0, 1 - label * output), and the labels are 0 and 1: "
                    "for those of 0 it is 1 whatever the model says");
}

/// Where a model gets by knowing the shares of the classes alone.
Sign LookLossAtClassShares(const Training& training) {
  const auto shares = SharesOfClasses(training.run);
  const Observation* plan = training.run.FindObservation("framework");
  // Then it was thought of, and the loss has another scale.
  const bool weighed = !As<seen::Framework>(plan).class_weight.value_or("").empty() ||
                       (!training.calls.empty() && As<seen::LossCall>(*training.calls.back()).weighted.value_or(false));
  if (!IsRare(shares) || training.learning.basis == nullptr || weighed) {
    return NotSeenSign();
  }
  const double majority = shares->majority;
  const double two_classes =
      -majority * std::log(majority) - (1 - majority) * std::log(1 - majority);
  const double prior = shares->guess.value_or(two_classes);
  // By the mean: most batches hold no sample of a rare class, and their loss is next to nothing.
  const double last = training.BasisNumber("last_mean");
  const std::string text = "the loss ends at " + HumanNumber(last) +
                           "; knowing the shares of the classes alone gives " + HumanNumber(prior);
  return last > 0.6 * prior && last < 1.5 * prior ? YesSign("series", text) : NoSign(text);
}

Sign LookLabelsSortedByLoader(const Training& training) {
  const Observation* loader = TrainingLoader(training.run);
  const auto loader_seen = As<seen::Loader>(loader);
  if (loader == nullptr || loader_seen.shuffle.value_or(false)) {
    return NoSign();
  }
  for (const Observation* labels : ObservationsOf(training.run, "labels")) {
    const auto labels_seen = As<seen::Labels>(labels);
    const double classes = OrZero(labels_seen.classes);
    const double samples =
        OrZero(labels_seen.samples) / std::max(OrZero(labels_seen.batches), 1.0);
    const double distinct = labels_seen.distinct_in_batch_mean.value_or(0);
    if (labels_seen.loader == loader_seen.loader && classes >= 2 &&
        samples >= kSamplesMin &&
        OrZero(labels_seen.batches) >= static_cast<double>(kCallsMin) &&
        TooFew(distinct, ExpectedClasses(classes, samples)) &&
        labels_seen.majority.value_or(0) < kMajority) {
      return YesSign("labels",
                     DescribeBatch(samples, distinct, classes) + ". The loader does not shuffle");
    }
  }
  return NoSign();
}

/// What is held out is the end of sorted data: classes that the model never sees.
Sign LookHeldOutOfOtherClasses(const Training& training) {
  constexpr double kMost = 0.5;
  const Observation* split = training.run.FindObservation("validation-split");
  const auto split_seen = As<seen::ValidationSplit>(split);
  if (split == nullptr) {
    return NotSeenSign();
  }
  const double unseen = split_seen.unseen.value_or(0);
  const double scarce = split_seen.scarce.value_or(0);
  return AnswerSign(unseen > kMost || scarce > kMost, "data",
                    "validation_split holds out the last " + HumanNumber(OrZero(split_seen.samples), 9) +
                        " samples as they come, and " + Percent(unseen > kMost ? unseen : scarce) +
                        " of them are of classes that are " +
                        (unseen > kMost ? "never" : "hardly") + " trained: the data is sorted");
}

/// By the labels that the loss was given, however they came there: few kinds at a time, and others
/// each time.
Sign LookLabelsSortedInLoss(const Training& training) {
  const Observation* loader = TrainingLoader(training.run);
  const auto calls = LossCalls(training.run, {"cross_entropy", "nll_loss"});
  const auto kinds = KindsOf(calls);
  if (!kinds || calls.size() < kCallsMin || (loader != nullptr && As<seen::Loader>(*loader).shuffle.value_or(false))) {
    return NotSeenSign();
  }
  const double classes = kinds->highest - kinds->lowest + 1;
  // Two batches without a label in common. Rare kinds (words) are few in a batch too, but share the
  // frequent ones.
  return AnswerSign(classes >= 3 && kinds->highest_min > kinds->lowest_max &&
                        TooFew(kinds->distinct, ExpectedClasses(classes, kinds->samples)),
                    "loss-call",
                    DescribeBatch(kinds->samples, kinds->distinct, classes) +
                        ", and other batches hold other classes: they come sorted");
}

Sign LookBatchAllIgnored(const Training& training) {
  for (const Observation* call : LossCalls(training.run, {"cross_entropy", "nll_loss"})) {
    const auto call_seen = As<seen::LossCall>(call);
    if (call_seen.ignored.value_or(0) >= 1) {
      return YesSign("loss-call",
                     "every target of a batch was " +
                         HumanNumber(call_seen.ignore_index.value_or(0)) +
                         ", the value that is ignored" +
                         (call->step ? ", at step " + HumanCount(*call->step) : "") +
                         ": the mean over nothing is NaN");
    }
  }
  return NoSign();
}

Sign LookTargetsCanBeIgnored(const Training& training) {
  for (const Observation* call : LossCalls(training.run, {"cross_entropy", "nll_loss"})) {
    const auto call_seen = As<seen::LossCall>(call);
    if (call_seen.ignore_index) {
      return YesSign("loss-call", call_seen.function.value_or("") + " leaves out targets of " +
                                      HumanNumber(call_seen.ignore_index.value_or(0)));
    }
  }
  return NoSign();
}

}  // namespace whystop
