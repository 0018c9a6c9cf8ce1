#include <algorithm>
#include <cmath>
#include <optional>

#include "base/human.h"
#include "base/parse.h"
#include "model/label_counts.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/training_facts.h"

namespace whystop {
namespace {

constexpr std::size_t kCallsMin = 4;
constexpr double kSamplesMin = 8;
constexpr double kMajority = 0.9;

struct ClassShares {
  double majority = 0;
  std::string text;
  std::optional<double> entropy = {};
};

std::optional<ClassShares> ByLabels(const CaseFile& run) {
  const auto labels = ObservationsOf(run, "labels");
  if (labels.empty() || NumberOf(*labels.back(), "classes") < 2) {
    return std::nullopt;
  }
  const double majority = NumberOf(*labels.back(), "majority");
  return ClassShares{majority,
                     Percent(majority) + " of the labels are of one class (" +
                         TextOf(*labels.back(), "counts") + ")",
                     LabelEntropy(TextOf(*labels.back(), "counts"))};
}

/// The same by the calls of the loss, where the batches were made by hand.
std::optional<ClassShares> ByLossCalls(const CaseFile& run) {
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
  return ClassShares{majority, Percent(majority) + " of the labels seen are " +
                                   HumanNumber(NumberOf(*calls.front(), "label_most"))};
}

/// Binary losses take their labels as fractions: all of them 0 or 1 has the spread of a coin of
/// that mean.
std::optional<ClassShares> ByBinaryTargets(const CaseFile& run) {
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
  return ClassShares{std::max(mean, 1 - mean),
                     Percent(mean) + " of the targets are 1, the others 0"};
}

std::optional<ClassShares> SharesOf(const CaseFile& run) {
  auto shares = ByLabels(run);
  shares = shares ? shares : ByLossCalls(run);
  return shares ? shares : ByBinaryTargets(run);
}

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
    const auto distinct = call->Number("label_distinct");
    const auto size = ParseWhole<double>(TextOf(*call, "target_shape"));
    if (!distinct || !size || *size < kSamplesMin) {
      return std::nullopt;
    }
    const double low = NumberOf(*call, "label_min");
    const double high = NumberOf(*call, "label_max");
    kinds.lowest = looked_at == 0 ? low : std::min(kinds.lowest, low);
    kinds.highest = looked_at == 0 ? high : std::max(kinds.highest, high);
    kinds.highest_min = looked_at == 0 ? low : std::max(kinds.highest_min, low);
    kinds.lowest_max = looked_at == 0 ? high : std::min(kinds.lowest_max, high);
    kinds.distinct += *distinct;
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
        training == nullptr || NumberOf(*loader, "dataset_len") > NumberOf(*training, "dataset_len")
            ? loader
            : training;
  }
  return training;
}

}  // namespace

Sign LookLabelsRare(const Training& training) {
  const auto shares = SharesOf(training.run);
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

/// A class that the loss does not count: whatever the model says of it is right.
Sign LookClassWeightsSilence(const Training& training) {
  const Observation* plan = training.run.FindObservation("framework");
  const std::string weights = plan == nullptr ? std::string() : TextOf(*plan, "class_weight");
  const auto labels = ObservationsOf(training.run, "labels");
  const std::string counts = labels.empty() ? std::string() : "," + TextOf(*labels.back(), "counts");
  std::string silent;
  for (std::size_t begin = 0; begin < weights.size();) {
    const std::size_t end = std::min(weights.find(',', begin), weights.size());
    const std::size_t colon = std::min(weights.find(':', begin), end);
    const std::string label = weights.substr(begin, colon - begin);
    const std::string weight = weights.substr(std::min(colon + 1, end), end - std::min(colon + 1, end));
    if ((weight == "0" || weight == "0.0") && counts.find("," + label + ":") != std::string::npos) {
      silent += (silent.empty() ? "" : ", ") + label;
    }
    begin = end + 1;
  }
  return AnswerSign(!silent.empty(), "labels",
                    "class_weight is " + weights + ": the loss of class " + silent +
                        " counts for nothing, though its samples are among the data");
}

/// Where a model gets by knowing the shares of the classes alone.
Sign LookLossAtClassShares(const Training& training) {
  const auto shares = SharesOf(training.run);
  const Observation* plan = training.run.FindObservation("framework");
  const bool weighed = plan != nullptr && !TextOf(*plan, "class_weight").empty();  // Then the loss has another scale.
  if (!IsRare(shares) || training.learning.basis == nullptr || weighed) {
    return NotSeenSign();
  }
  const double majority = shares->majority;
  const double two_classes =
      -majority * std::log(majority) - (1 - majority) * std::log(1 - majority);
  const double prior = shares->entropy.value_or(two_classes);
  // By the mean: most batches hold no sample of a rare class, and their loss is next to nothing.
  const double last = training.BasisNumber("last_mean");
  const std::string text = "the loss ends at " + HumanNumber(last) +
                           "; knowing the shares of the classes alone gives " + HumanNumber(prior);
  return last > 0.6 * prior && last < 1.5 * prior ? YesSign("series", text) : NoSign(text);
}

Sign LookLabelsSortedByLoader(const Training& training) {
  const Observation* loader = TrainingLoader(training.run);
  if (loader == nullptr || NumberOf(*loader, "shuffle") > 0) {
    return NoSign();
  }
  for (const Observation* labels : ObservationsOf(training.run, "labels")) {
    const double classes = NumberOf(*labels, "classes");
    const double samples =
        NumberOf(*labels, "samples") / std::max(NumberOf(*labels, "batches"), 1.0);
    const double distinct = NumberOf(*labels, "distinct_in_batch_mean");
    if (labels->Number("loader") == loader->Number("loader") && classes >= 2 &&
        samples >= kSamplesMin &&
        NumberOf(*labels, "batches") >= static_cast<double>(kCallsMin) &&
        TooFew(distinct, ExpectedClasses(classes, samples)) &&
        NumberOf(*labels, "majority") < kMajority) {
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
  if (split == nullptr) {
    return NotSeenSign();
  }
  const double unseen = NumberOf(*split, "unseen");
  return AnswerSign(unseen > kMost, "data",
                    "validation_split holds out the last " + HumanNumber(NumberOf(*split, "samples"), 9) +
                        " samples as they come, and " + Percent(unseen) +
                        " of them are of classes that are never trained: the data is sorted");
}

/// By the labels that the loss was given, however they came there: few kinds at a time, and others
/// each time.
Sign LookLabelsSortedInLoss(const Training& training) {
  const Observation* loader = TrainingLoader(training.run);
  const auto calls = LossCalls(training.run, {"cross_entropy", "nll_loss"});
  const auto kinds = KindsOf(calls);
  if (!kinds || calls.size() < kCallsMin || (loader != nullptr && NumberOf(*loader, "shuffle") > 0)) {
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
    if (NumberOf(*call, "ignored") >= 1) {
      return YesSign("loss-call",
                     "every target of a batch was " +
                         HumanNumber(NumberOf(*call, "ignore_index")) +
                         ", the value that is ignored" +
                         (call->step ? ", at step " + HumanCount(*call->step) : "") +
                         ": the mean over nothing is NaN");
    }
  }
  return NoSign();
}

Sign LookTargetsCanBeIgnored(const Training& training) {
  for (const Observation* call : LossCalls(training.run, {"cross_entropy", "nll_loss"})) {
    if (call->Number("ignore_index")) {
      return YesSign("loss-call", TextOf(*call, "function") + " leaves out targets of " +
                                      HumanNumber(NumberOf(*call, "ignore_index")));
    }
  }
  return NoSign();
}

}  // namespace whystop
