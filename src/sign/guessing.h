#pragma once

#include <optional>
#include <string>

#include "model/case_file.h"

namespace whystop {

/// How often each class comes, and what knowing that and nothing else is worth.
struct ClassShares {
  double majority = 0;           // The accuracy of whoever always names the most frequent one.
  std::string text;
  std::optional<double> guess;   // Its cost in the loss that was called; nullopt: weighed in an unknown way.
};

/// By the labels of the loader, by the class targets of the loss, or by the targets of a binary one.
std::optional<ClassShares> SharesOfClasses(const CaseFile& run);

/// What a classifier's loss is when it knows how often each class comes and nothing else: the
/// entropy of the labels, or ln k, weights of classes counted in; nullopt: not a classifier by cross-entropy, or its
/// loss has other terms beside it. Of several answers a sample it is a bound from above.
std::optional<double> LossOfGuessing(const CaseFile& run);

/// The accuracy of whoever always says the most frequent class; nullopt: no classes were seen.
std::optional<double> AccuracyOfGuessing(const CaseFile& run);

/// An accuracy that stays at 1/k beside a loss at ln k, of the same whole k: what figures alone tell of guessing where neither
/// labels nor calls of the loss were seen.
struct EvenGuess {
  const Finding* score = nullptr;
  int classes = 0;
};
std::optional<EvenGuess> GuessByTheFigures(const CaseFile& run);

}  // namespace whystop
