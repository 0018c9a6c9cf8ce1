#include <algorithm>
#include <cmath>
#include <string>

#include "base/human.h"
#include "base/parse.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

constexpr double kSamplesMin = 8;
constexpr std::size_t kBatchesMin = 4;

/// How many classes a batch of mixed data holds.
double ExpectedClasses(double classes, double samples) {
  return classes * (1 - std::pow(1 - 1 / classes, samples));
}

bool TooFew(double distinct, double expected) { return distinct < 0.5 * expected + 0.1; }

std::string Describe(double samples, double distinct, double classes) {
  return "a batch of " + HumanNumber(samples) + " samples holds " + HumanNumber(distinct, 2) +
         " of " + HumanNumber(classes) + " classes; mixed data would hold " +
         HumanNumber(ExpectedClasses(classes, samples), 2);
}

/// By the labels of the first batches of the largest loader.
bool WeighLoader(const CaseFile& run, const Observation& training, Hypothesis& out) {
  for (const Observation* labels : ObservationsOf(run, "labels")) {
    const double classes = NumberOf(*labels, "classes");
    const double samples =
        NumberOf(*labels, "samples") / std::max(NumberOf(*labels, "batches"), 1.0);
    const double distinct = NumberOf(*labels, "distinct_in_batch_mean");
    if (labels->Number("loader") != training.Number("loader") || classes < 2 ||
        samples < kSamplesMin || NumberOf(*labels, "batches") < static_cast<double>(kBatchesMin)) {
      continue;
    }
    if (TooFew(distinct, ExpectedClasses(classes, samples)) &&
        NumberOf(*labels, "majority") < 0.9) {
      out.Add(Decisive("labels",
                       Describe(samples, distinct, classes) + ". The loader does not shuffle"));
      out.Fix("DataLoader(..., shuffle=True)");
      return true;
    }
  }
  return false;
}

/// By the labels that the loss was given, however they came there: few kinds at a time, and others
/// each time.
void WeighLossCalls(const CaseFile& run, Hypothesis& out) {
  double distinct = 0;
  double samples = 0;
  double lowest = 0;
  double highest = 0;
  double highest_min = 0;
  double lowest_max = 0;
  double looked_at = 0;
  const auto calls = LossCalls(run, {"cross_entropy", "nll_loss"});
  for (const Observation* call : calls) {
    const auto kinds = call->Number("label_distinct");
    const auto size = ParseWhole<double>(TextOf(*call, "target_shape"));
    if (!kinds || !size || *size < kSamplesMin) {
      return;
    }
    lowest = looked_at == 0 ? NumberOf(*call, "label_min")
                            : std::min(lowest, NumberOf(*call, "label_min"));
    highest = looked_at == 0 ? NumberOf(*call, "label_max")
                             : std::max(highest, NumberOf(*call, "label_max"));
    highest_min = looked_at == 0 ? NumberOf(*call, "label_min")
                                 : std::max(highest_min, NumberOf(*call, "label_min"));
    lowest_max = looked_at == 0 ? NumberOf(*call, "label_max")
                                : std::min(lowest_max, NumberOf(*call, "label_max"));
    distinct += *kinds;
    samples += *size;
    ++looked_at;
  }
  const double classes = highest - lowest + 1;
  // Two batches without a label in common. Rare kinds (class-imbalance, words) are few in a batch
  // too, but share the frequent ones.
  if (calls.size() < kBatchesMin || classes < 3 || highest_min <= lowest_max) {
    return;
  }
  distinct /= looked_at;
  samples /= looked_at;
  if (TooFew(distinct, ExpectedClasses(classes, samples))) {
    out.Add(Decisive("loss-call", Describe(samples, distinct, classes) +
                                      ", and other batches hold other classes: they come sorted"));
    out.Fix(
        "shuffle the training data: DataLoader(..., shuffle=True), or a new torch.randperm each "
        "epoch");
  }
}

}  // namespace

void WeighOrderNotShuffled(const CaseFile& run, Hypothesis& out) {
  const Observation* training = nullptr;
  for (const Observation* loader : ObservationsOf(run, "loader")) {
    training =
        training == nullptr || NumberOf(*loader, "dataset_len") > NumberOf(*training, "dataset_len")
            ? loader
            : training;
  }
  const bool shuffles = training != nullptr && NumberOf(*training, "shuffle") > 0;
  if (shuffles || (training != nullptr && WeighLoader(run, *training, out))) {
    return;
  }
  WeighLossCalls(run, out);
}

}  // namespace whystop
