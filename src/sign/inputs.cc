#include <cmath>

#include "base/human.h"
#include "base/parse.h"
#include "model/observations.h"
#include "sign/answers.h"
#include "sign/loss_calls.h"
#include "sign/model_input.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

constexpr double kLarge = 30;

Sign WithScaling(Sign sign, const Observation& input) {
  const auto input_seen = As<seen::ModelInput>(input);
  sign.facts.push_back({.name = "mean", .text = HumanNumber(input_seen.mean.value_or(0))});
  sign.facts.push_back({.name = "std", .text = HumanNumber(input_seen.std.value_or(0))});
  return sign;
}

std::string Range(const Observation& input) {
  const auto input_seen = As<seen::ModelInput>(input);
  return HumanNumber(input_seen.min.value_or(0)) + " to " + HumanNumber(input_seen.max.value_or(0));
}

}  // namespace

Sign LookInputsUnscaled(const Training& training) {
  if (training.input == nullptr) {
    return NotSeenSign();
  }
  const Observation& input = *training.input;
  const auto input_seen = As<seen::ModelInput>(input);
  const double size = SizeOf(input);
  const double narrow = input_seen.column_std_min.value_or(0);
  const double wide = input_seen.column_std_max.value_or(0);
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
  const auto model = As<seen::Model>(training.model);
  return AnswerSign(training.model != nullptr && !model.norms.value_or("").empty(), "model",
                    training.model == nullptr ? std::string()
                                              : "the model has " +
                                                    model.norms.value_or(""));
}

/// A number that stands for "not there" and is far outside of all others.
Sign LookInputsHoldMarks(const Training& training) {
  const auto input = As<seen::ModelInput>(training.input);
  if (training.input == nullptr) {
    return NotSeenSign();
  }
  const double least = input.min.value_or(0);
  const bool mark = least == -999 || least == -9999 || least == -99999;
  return AnswerSign(mark && input.max.value_or(0) < -least / 5, "batch",
                    "the inputs hold " + HumanNumber(least) +
                        ", a mark for \"missing\", beside values up to " +
                        HumanNumber(input.max.value_or(0)));
}

Sign LookInputsAreCodes(const Training& training) {
  if (training.input == nullptr) {
    return NotSeenSign();
  }
  const Observation& input = *training.input;
  const auto input_seen = As<seen::ModelInput>(input);
  const double distinct = OrZero(input_seen.distinct);
  return AnswerSign(input_seen.integer_valued.value_or(false) && distinct >= 3 && distinct <= 50 &&
                        input_seen.min.value_or(0) >= 0,
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
  const auto call_seen = As<seen::LossCall>(call);
  const std::string text = "targets have mean " + HumanNumber(call_seen.target_mean.value_or(0)) +
                           " and spread " + HumanNumber(call_seen.target_std.value_or(0)) +
                           ", the first outputs spread " +
                           HumanNumber(call_seen.input_std.value_or(0));
  Sign sign = *size >= kLarge ? YesSign("loss-call", text, {}, *size / kLarge) : NoSign(text);
  sign.facts.push_back({.name = "mean", .text = HumanNumber(call_seen.target_mean.value_or(0))});
  sign.facts.push_back({.name = "std", .text = HumanNumber(call_seen.target_std.value_or(0))});
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

/// What is left of one value when its mean is taken off is 0: nothing of the input gets through.
Sign LookBatchNormOfOne(const Training& training) {
  const Observation* norm = training.run.FindObservation("norm-input");
  const auto norm_seen = As<seen::NormInput>(norm);
  return norm == nullptr ? NotSeenSign()
                         : AnswerSign(OrZero(norm_seen.values) == 1, "model",
                                      norm_seen.type.value_or("") + " " + norm_seen.module.value_or("") +
                                          " takes its mean of one value, that of a single sample: what "
                                          "is left is 0 whatever the input");
}

/// Mean and spread of so few values are mostly noise.
Sign LookBatchNormOfFew(const Training& training) {
  constexpr double kFew = 4;
  if (training.model == nullptr) {
    return NotSeenSign();
  }
  const auto loaders = ObservationsOf(training.run, "loader");
  double size = loaders.empty() ? 0 : OrZero(As<seen::Loader>(*loaders.front()).batch_size);
  if (loaders.empty() && training.input != nullptr) {
    const std::string shape = As<seen::ModelInput>(*training.input).shape.value_or("");
    size = ParseWhole<double>(std::string_view(shape).substr(0, shape.find('x'))).value_or(0);
  }
  const std::string norms = As<seen::Model>(*training.model).norms.value_or("");
  return AnswerSign(MentionsAny(norms, {"batchnorm"}) && size >= 2 && size <= kFew, "model",
                    norms + " with batches of " + HumanNumber(size) +
                        " samples: mean and spread of so few values are mostly noise");
}

/// Each pixel of a picture is a value too, if not one of its own.
Sign LookBatchNormOfPixels(const Training& training) {
  return AnswerSign(training.model != nullptr && MentionsAny(As<seen::Model>(*training.model).norms.value_or(""),
                                                             {"batchnorm2d", "batchnorm3d"}),
                    "model", "the batch norm sees all pixels of a picture");
}

}  // namespace whystop
