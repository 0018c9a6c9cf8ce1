#include "sign/guessing.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/human.h"
#include "model/label_counts.h"
#include "model/observations.h"
#include "sign/loss_calls.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {
namespace {

constexpr std::size_t kCallsMin = 3;

double EntropyOf(double share) {
  return share <= 0 || share >= 1 ? 0 : -share * std::log(share) - (1 - share) * std::log1p(-share);
}

std::string ClassWeightsOf(const std::vector<const Observation*>& calls) {
  return calls.empty() ? std::string() : As<seen::LossCall>(*calls.back()).class_weights.value_or("");
}

/// A tensor of weights that is not on record.
bool IsWeighedSomehow(const std::vector<const Observation*>& calls) {
  return std::any_of(calls.begin(), calls.end(), [](const Observation* call) {
    const auto call_seen = As<seen::LossCall>(call);
    return call_seen.weighted.value_or(false) && call_seen.class_weights.value_or("").empty() &&
           !call_seen.pos_weight;
  });
}

/// The last labels of a loader that can be those which the loss got: a program may train on one thing after another.
const Observation* LabelsOfTheLoss(const CaseFile& run) {
  double largest = 0;
  double kinds = 0;
  for (const Observation* call : ObservationsOf(run, "loss-call")) {
    const auto call_seen = As<seen::LossCall>(*call);
    largest = std::max(largest, call_seen.label_max.value_or(0));
    kinds = std::max(kinds, OrZero(call_seen.label_distinct));
  }
  const auto labels = ObservationsOf(run, "labels");
  const auto found = std::find_if(labels.rbegin(), labels.rend(), [&](const Observation* counted) {
    const auto counted_seen = As<seen::Labels>(*counted);
    return counted_seen.max.value_or(largest) >= largest && OrZero(counted_seen.classes) >= kinds;
  });
  return found == labels.rend() ? nullptr : *found;
}

std::optional<ClassShares> ByLabels(const CaseFile& run, const std::string& weights) {
  const Observation* labels = LabelsOfTheLoss(run);
  if (labels == nullptr || OrZero(As<seen::Labels>(*labels).classes) < 2) {
    return std::nullopt;
  }
  const auto last = As<seen::Labels>(*labels);
  const double majority = last.majority.value_or(0);
  const std::string counts = last.counts.value_or("");
  return ClassShares{majority, Percent(majority) + " of the labels are of one class (" + counts + ")",
                     weights.empty() ? LabelEntropyOfMany(counts, OrZero(last.classes), OrZero(last.samples))
                                     : LabelEntropy(counts, weights)};
}

/// Of two classes the mean of the labels is a share.
std::optional<double> GuessOfTwo(const std::vector<const Observation*>& calls, const std::string& weights) {
  double ones = 0;
  std::size_t count = 0;
  for (const Observation* call : calls) {
    const auto call_seen = As<seen::LossCall>(call);
    const auto mean = call_seen.target_mean;
    if (OrZero(call_seen.classes) == 2 && mean && *mean >= 0 && *mean <= 1) {
      ones += *mean;
      ++count;
    }
  }
  ones /= static_cast<double>(std::max<std::size_t>(count, 1));
  return count >= kCallsMin && ones > 0 && ones < 1
             ? LabelEntropy(fmt::format("0:{},1:{}", 1 - ones, ones), weights)
             : std::nullopt;
}

/// By the calls of the loss, where the batches were made by hand.
std::optional<ClassShares> ByClassTargets(const std::vector<const Observation*>& calls,
                                          const std::string& weights) {
  double majority = 0;
  for (const Observation* call : calls) {
    const auto call_seen = As<seen::LossCall>(call);
    if (!call_seen.label_most_share ||
        call_seen.label_most != As<seen::LossCall>(*calls.front()).label_most) {
      return std::nullopt;
    }
    majority += call_seen.label_most_share.value_or(0) / static_cast<double>(calls.size());
  }
  if (calls.size() < kCallsMin) {
    return std::nullopt;
  }
  return ClassShares{majority,
                     Percent(majority) + " of the labels seen are " +
                         HumanNumber(As<seen::LossCall>(*calls.front()).label_most.value_or(0)),
                     GuessOfTwo(calls, weights)};
}

/// Binary losses take their labels as fractions: all of them 0 or 1 has the spread of a coin of
/// that mean. Calls with ones alone beside calls with zeros alone are those of adversaries, or of samples drawn for contrast.
std::optional<ClassShares> ByBinaryTargets(const std::vector<const Observation*>& calls) {
  double mean = 0;
  bool ones = false;
  bool zeros = false;
  for (const Observation* call : calls) {
    const auto call_seen = As<seen::LossCall>(call);
    const double one = call_seen.target_mean.value_or(0);
    const double spread = call_seen.target_std.value_or(0);
    if (std::abs(spread * spread - one * (1 - one)) > 0.1 * one * (1 - one) + 1e-6) {
      return std::nullopt;
    }
    ones = ones || one == 1;
    zeros = zeros || one == 0;
    mean += one / static_cast<double>(calls.size());
  }
  if (calls.size() < kCallsMin || mean <= 0 || mean >= 1 || (ones && zeros)) {
    return std::nullopt;
  }
  // Ones that count more often than once cost more, too.
  const double weight = As<seen::LossCall>(*calls.back()).pos_weight.value_or(1);
  const double sum = weight * mean + 1 - mean;
  return ClassShares{std::max(mean, 1 - mean),
                     Percent(mean) + " of the targets are 1, the others 0",
                     IsWeighedSomehow(calls) ? std::nullopt
                                             : std::optional(sum * EntropyOf(weight * mean / sum))};
}

/// Where no call of the loss was seen: by its name, and by the labels or the width of what the model gives.
std::optional<double> GuessingByThePlan(const CaseFile& run) {
  const Observation* plan = run.FindObservation("framework");
  const auto plan_seen = As<seen::Framework>(plan);
  const std::string loss = plan_seen.loss.value_or("");
  if (!MentionsAny(loss, {"crossentropy"}) || MentionsAny(loss, {"focal"})) {
    return std::nullopt;
  }
  if (const auto shares = ByLabels(run, ""); shares && shares->guess.value_or(0) > 0) {
    return shares->guess;
  }
  const double outputs = OrZero(plan_seen.outputs);
  return outputs >= 2 && MentionsAny(loss, {"categorical"}) ? std::optional(std::log(outputs))
                                                            : std::nullopt;
}

/// Samples or classes that a framework was told to count differently: the loss has another scale.
bool IsWeighedByThePlan(const CaseFile& run) {
  const Observation* plan = run.FindObservation("framework");
  const auto loaders = ObservationsOf(run, "loader");
  return !As<seen::Framework>(plan).class_weight.value_or("").empty() ||
         std::any_of(loaders.begin(), loaders.end(), [](const Observation* loader) {
           return As<seen::Loader>(*loader).sample_weights.value_or(false);
         });
}

std::vector<const Observation*> ClassCalls(const CaseFile& run) {
  return LossCalls(run, {"cross_entropy", "nll_loss"});
}

std::vector<const Observation*> BinaryCalls(const CaseFile& run) {
  return LossCalls(run, {"binary_cross_entropy", "binary_cross_entropy_with_logits"});
}

/// Losses of two kinds in one step: what is minimised is their sum, and neither's level of guessing is that of the sum.
bool HasSeveralTerms(const CaseFile& run) {
  const Observation* before = nullptr;
  for (const Observation* call : ObservationsOf(run, "loss-call")) {
    const auto call_seen = As<seen::LossCall>(call);
    if (!call_seen.grad_enabled.value_or(false) || !call_seen.input_requires_grad.value_or(false)) {
      continue;
    }
    if (before != nullptr && call->step && before->step == call->step &&
        (As<seen::LossCall>(before).function != call_seen.function ||
         As<seen::LossCall>(before).classes != call_seen.classes)) {
      return true;
    }
    before = call;
  }
  return false;
}

}  // namespace

std::optional<ClassShares> SharesOfClasses(const CaseFile& run) {
  const auto classes = ClassCalls(run);
  const auto binary = BinaryCalls(run);
  const bool by_two = classes.empty() && !binary.empty();
  if (by_two && As<seen::LossCall>(*binary.back()).pos_weight) {
    return ByBinaryTargets(binary);
  }
  const std::string weights = ClassWeightsOf(classes);
  auto shares = ByLabels(run, weights);
  shares = shares ? shares : ByClassTargets(classes, weights);
  if (shares && IsWeighedSomehow(by_two ? binary : classes)) {
    shares->guess = std::nullopt;
  }
  return shares ? shares : ByBinaryTargets(binary);
}

std::optional<double> LossOfGuessing(const CaseFile& run) {
  const auto classes = ClassCalls(run);
  const auto binary = BinaryCalls(run);
  if (IsWeighedByThePlan(run)) {
    return std::nullopt;
  }
  if (classes.empty() && binary.empty()) {
    return GuessingByThePlan(run);
  }
  if (HasSeveralTerms(run)) {
    return std::nullopt;
  }
  if (const auto shares = SharesOfClasses(run); shares && shares->guess.value_or(0) > 0) {
    return shares->guess;
  }
  if (const auto guess = GuessOfTwo(classes, ClassWeightsOf(classes)); guess && !IsWeighedSomehow(classes)) {
    return guess;
  }
  const double count = classes.empty() ? 0 : OrZero(As<seen::LossCall>(*classes.back()).classes);
  return count >= 2 ? std::optional(std::log(count)) : std::nullopt;
}

std::optional<double> AccuracyOfGuessing(const CaseFile& run) {
  if (const auto shares = SharesOfClasses(run); shares && shares->majority > 0) {
    return shares->majority;
  }
  const auto classes = ClassCalls(run);
  const double count = classes.empty() ? 0 : OrZero(As<seen::LossCall>(*classes.front()).classes);
  return count >= 2 ? std::optional(1 / count) : std::nullopt;
}

std::optional<EvenGuess> GuessByTheFigures(const CaseFile& run) {
  constexpr double kPointsMin = 10;
  constexpr double kOfTheScore = 0.01;
  constexpr double kOfTheBestScore = 0.1;
  constexpr double kOfTheLoss = 0.02;
  constexpr int kClassesMax = 1000;
  for (const Finding& score : run.findings) {
    const double last = score.Number("last").value_or(0);
    const double best = score.Number("best").value_or(0);
    if (score.detector != "loss/trend" || !FactText(score, "role").ends_with("-score") ||
        !MentionsAny(score.series, {"acc"}) || score.Number("points").value_or(0) < kPointsMin || last <= 0) {
      continue;
    }
    const double scale = best > 1 ? 100 : 1;  // In per cent.
    const double classes = std::round(scale / last);
    if (classes < 2 || classes > kClassesMax || std::abs(last * classes / scale - 1) > kOfTheScore ||
        best * classes / scale > 1 + kOfTheBestScore) {
      continue;
    }
    const bool costs_it = std::any_of(run.findings.begin(), run.findings.end(), [classes](const Finding& loss) {
      return loss.detector == "loss/trend" && FactText(loss, "role").ends_with("-loss") &&
             std::abs(loss.Number("last").value_or(0) / std::log(classes) - 1) < kOfTheLoss;
    });
    if (costs_it) {
      return EvenGuess{&score, static_cast<int>(classes)};
    }
  }
  return std::nullopt;
}

}  // namespace whystop
