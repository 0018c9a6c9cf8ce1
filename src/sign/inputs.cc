#include <cmath>

#include "base/human.h"
#include "base/parse.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/training_facts.h"

namespace whystop {
namespace {

constexpr double kLarge = 30;

Sign WithScaling(Sign sign, const Observation& input) {
  sign.facts.push_back({.name = "mean", .text = HumanNumber(NumberOf(input, "mean"))});
  sign.facts.push_back({.name = "std", .text = HumanNumber(NumberOf(input, "std"))});
  return sign;
}

std::string Range(const Observation& input) {
  return HumanNumber(NumberOf(input, "min")) + " to " + HumanNumber(NumberOf(input, "max"));
}

}  // namespace

Sign LookInputsUnscaled(const Training& training) {
  if (training.input == nullptr) {
    return NotSeenSign();
  }
  const Observation& input = *training.input;
  const double size = SizeOf(input);
  const double narrow = NumberOf(input, "column_std_min");
  const double wide = NumberOf(input, "column_std_max");
  if (size > kLarge) {
    return WithScaling(YesSign("batch", "the inputs go from " + Range(input)), input);
  }
  if (narrow > 0 && wide > 10 && wide > 1000 * narrow) {
    return WithScaling(YesSign("batch", "the columns of the inputs spread between " +
                                            HumanNumber(narrow) + " and " + HumanNumber(wide)),
                       input);
  }
  if (size > 0 && size < 2e-3) {
    return WithScaling(YesSign("batch", "the inputs are tiny: from " + Range(input)), input);
  }
  return NoSign("the inputs go from " + Range(input));
}

Sign LookInputsLarge(const Training& training) {
  return AnswerSign(training.input != nullptr && SizeOf(*training.input) > kLarge, "batch",
                    training.input == nullptr ? std::string()
                                              : "the inputs go from " + Range(*training.input));
}

Sign LookModelNormalises(const Training& training) {
  return AnswerSign(training.model != nullptr && !TextOf(*training.model, "norms").empty(), "model",
                    training.model == nullptr ? std::string()
                                              : "the model has " +
                                                    TextOf(*training.model, "norms"));
}

/// A number that stands for "not there" and is far outside of all others.
Sign LookInputsHoldMarks(const Training& training) {
  if (training.input == nullptr) {
    return NotSeenSign();
  }
  const double least = NumberOf(*training.input, "min");
  const bool mark = least == -999 || least == -9999 || least == -99999;
  return AnswerSign(mark && NumberOf(*training.input, "max") < -least / 5, "batch",
                    "the inputs hold " + HumanNumber(least) +
                        ", a mark for \"missing\", beside values up to " +
                        HumanNumber(NumberOf(*training.input, "max")));
}

Sign LookInputsAreCodes(const Training& training) {
  if (training.input == nullptr) {
    return NotSeenSign();
  }
  const Observation& input = *training.input;
  const double distinct = NumberOf(input, "distinct");
  return AnswerSign(NumberOf(input, "integer_valued") > 0 && distinct >= 3 && distinct <= 50 &&
                        NumberOf(input, "min") >= 0,
                    "batch",
                    "the inputs are the whole numbers " + Range(input) + " (" +
                        HumanNumber(distinct) +
                        " different ones): codes of kinds, given as sizes");
}

Sign LookTargetsUnscaled(const Training& training) {
  const auto size = RegressionTargetSize(training.run);
  if (!size) {
    return NotSeenSign();
  }
  const auto calls = RegressionCalls(training.run);
  const Observation& call = *calls.front();
  const std::string text = "targets have mean " + HumanNumber(NumberOf(call, "target_mean")) +
                           " and spread " + HumanNumber(NumberOf(call, "target_std")) +
                           ", the first outputs spread " +
                           HumanNumber(NumberOf(call, "input_std"));
  Sign sign = *size >= kLarge ? YesSign("loss-call", text, {}, *size / kLarge) : NoSign(text);
  sign.facts.push_back({.name = "mean", .text = HumanNumber(NumberOf(call, "target_mean"))});
  sign.facts.push_back({.name = "std", .text = HumanNumber(NumberOf(call, "target_std"))});
  return sign;
}

Sign LookTargetsFarFromOutputs(const Training& training) {
  const auto size = RegressionTargetSize(training.run);
  const auto calls = RegressionCalls(training.run);
  return AnswerSign(size && !calls.empty() && *size > 10 * OutputSize(*calls.front()), "loss-call",
                    "the targets are more than ten times as large as the first outputs");
}

/// Steps of plain descent are large where the data are.
Sign LookDataLarge(const Training& training) {
  return AnswerSign(RegressionTargetSize(training.run).value_or(0) > kLarge ||
                        (training.input != nullptr && SizeOf(*training.input) > kLarge),
                    "batch", "inputs or targets are large");
}

/// Mean and spread of so few values are mostly noise.
Sign LookBatchNormOfFew(const Training& training) {
  constexpr double kFew = 4;
  if (training.model == nullptr) {
    return NotSeenSign();
  }
  const auto loaders = ObservationsOf(training.run, "loader");
  double size = loaders.empty() ? 0 : NumberOf(*loaders.front(), "batch_size");
  if (loaders.empty() && training.input != nullptr) {
    const std::string shape = TextOf(*training.input, "shape");
    size = ParseWhole<double>(std::string_view(shape).substr(0, shape.find('x'))).value_or(0);
  }
  const std::string norms = TextOf(*training.model, "norms");
  return AnswerSign(MentionsAny(norms, {"batchnorm"}) && size >= 2 && size <= kFew, "model",
                    norms + " with batches of " + HumanNumber(size) +
                        " samples: mean and spread of so few values are mostly noise");
}

/// Each pixel of a picture is a value too, if not one of its own.
Sign LookBatchNormOfPixels(const Training& training) {
  return AnswerSign(training.model != nullptr && MentionsAny(TextOf(*training.model, "norms"),
                                                             {"batchnorm2d", "batchnorm3d"}),
                    "model", "the batch norm sees all pixels of a picture");
}

}  // namespace whystop
