#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "base/parse.h"
#include "model/observations.h"
#include "sign/half_precision.h"
#include "sign/nan.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

const Observation* FirstReport(const Training& training) {
  const auto reports = ObservationsOf(training.run, "nonfinite");
  return reports.empty() ? nullptr : reports.front();
}

std::string AtStep(const Observation& report) {
  return report.step ? " at step " + HumanCount(*report.step) : "";
}

bool FromOutside(const Observation& report) { return As<seen::Nonfinite>(report).operand_from_outside.value_or(false); }

bool HasNoValueSomewhere(const std::string& operation) {
  return MentionsAny(operation, {"log", "sqrt", "div", "pow", "reciprocal", "acos", "asin", "norm",
                                 "exp"});
}

/// "16x30x1" is 480 values.
double ValuesOf(std::string_view shape) {
  double values = 1;
  while (!shape.empty()) {
    const std::size_t size = std::min(shape.find('x'), shape.size());
    values *= ParseWhole<double>(shape.substr(0, size)).value_or(0);
    shape.remove_prefix(std::min(shape.size(), size + 1));
  }
  return values;
}

/// Infinity passes a sigmoid unseen and becomes NaN on the way back: the weights may be lost before
/// the input is looked at. What came from outside the graph and has as many values as a batch is
/// the batch.
bool StoodInTheInput(const Training& training, const Observation& report) {
  const auto report_seen = As<seen::Nonfinite>(report);
  const std::string shape = report_seen.operand_shape.value_or("");
  return report_seen.first == "input" ||
         (FromOutside(report) && training.input != nullptr && !shape.empty() &&
          OrZero(report_seen.report) <= 2 &&
          ValuesOf(shape) == ValuesOf(As<seen::ModelInput>(*training.input).shape.value_or("")));
}

const Observation* SoundLayer(const Training& training) {
  const Observation* layer = training.run.FindObservation("nonfinite-layer");
  const auto layer_seen = As<seen::NonfiniteLayer>(layer);
  const bool made_it = layer != nullptr && layer_seen.inputs_finite.value_or(false) &&
                       layer_seen.weights_finite.value_or(false);
  return made_it ? layer : nullptr;
}

bool Attends(const Observation& layer) {
  const auto layer_seen = As<seen::NonfiniteLayer>(layer);
  return MentionsAny(layer_seen.module.value_or("") + layer_seen.type.value_or(""),
                     {"attn", "attention", "softmax"});
}

std::string DescribeLayer(const Observation& layer) {
  const auto layer_seen = As<seen::NonfiniteLayer>(layer);
  return "module " + layer_seen.module.value_or("") + " (" + layer_seen.type.value_or("") +
         ") made NaN out of finite inputs and finite weights";
}

}  // namespace

Sign LookNanHurtNothing(const Training& training) {
  const Observation* report = NanThatHurtNothing(training.run);
  return AnswerSign(report != nullptr, "tensor",
                    report == nullptr ? std::string()
                                      : "the loss was NaN" + AtStep(*report) +
                                            " and the step did no harm to the weights, as if its "
                                            "gradients were 0: so are those of the mean over no "
                                            "target");
}

/// Of weights and inputs of ordinary size: sums and products cannot do that.
Sign LookNanFromTheFirst(const Training& training) {
  const bool first = NanFromTheFirst(training.run);
  return AnswerSign(first, "tensor",
                    first ? "the very first loss was NaN, seen first in " +
                                As<seen::Nonfinite>(FirstReport(training)).operation.value_or("") +
                                ", and weights and inputs were of ordinary size: a logarithm, "
                                "root or division before it has no value there"
                          : std::string());
}

Sign LookNanOfOperation(const Training& training) {
  const Observation* first = FirstReport(training);
  const auto first_seen = As<seen::Nonfinite>(first);
  if (first == nullptr || first_seen.operation.value_or("").empty()) {
    return NotSeenSign();
  }
  const std::string operation = first_seen.operation.value_or("");
  return AnswerSign(!FromOutside(*first) && HasNoValueSomewhere(operation) &&
                        !MentionsAny(operation, {"softmax", "attention"}),
                    "tensor",
                    "the first value that was not finite was " + first_seen.operand.value_or("") +
                        " of " + operation + AtStep(*first) + "; weights and inputs were finite");
}

/// The log-softmax of a loss function has no mask: outputs that overflowed are what it got.
Sign LookNanOfSoftmax(const Training& training) {
  const Observation* first = FirstReport(training);
  const auto first_seen = As<seen::Nonfinite>(first);
  const bool softmax = first != nullptr && MayBeMasked(first_seen.operation.value_or("")) &&
                       OrZero(first_seen.weights) == 0 && !FromOutside(*first);
  return AnswerSign(softmax, "tensor",
                    softmax ? "the first value that was not finite was " +
                                  first_seen.operand.value_or("") + " of " +
                                  first_seen.operation.value_or("") +
                                  ": a row that is masked altogether does that"
                            : std::string());
}

Sign LookNanOfAttention(const Training& training) {
  const Observation* layer = SoundLayer(training);
  const bool attention =
      layer != nullptr && FirstReport(training) != nullptr && Attends(*layer);
  return AnswerSign(attention, "tensor",
                    attention ? DescribeLayer(*layer) + ": a row that is masked altogether does "
                                                        "that"
                              : std::string());
}

Sign LookNanOfLayer(const Training& training) {
  const Observation* layer = SoundLayer(training);
  const Observation* first = FirstReport(training);
  const auto first_seen = As<seen::Nonfinite>(first);
  const bool other = layer != nullptr && first != nullptr && !Attends(*layer) &&
                     (first_seen.operation.value_or("").empty() || first_seen.first != "loss");
  return AnswerSign(other, "tensor",
                    other ? DescribeLayer(*layer) + AtStep(*first) : std::string());
}

Sign LookNanInLossFirst(const Training& training) {
  const Observation* first = FirstReport(training);
  const auto first_seen = As<seen::Nonfinite>(first);
  const bool loss = first != nullptr && first_seen.first == "loss" &&
                    first_seen.operation.value_or("").empty() && SoundLayer(training) == nullptr;
  return AnswerSign(loss, "tensor",
                    loss ? "the loss itself was the first thing that was not finite" +
                               AtStep(*first) + ": weights, inputs and earlier gradients were"
                         : std::string());
}

Sign LookNanInGradientFirst(const Training& training) {
  const Observation* first = FirstReport(training);
  const auto first_seen = As<seen::Nonfinite>(first);
  const bool gradient = first != nullptr && first_seen.first == "gradient" &&
                        SoundLayer(training) == nullptr;
  return AnswerSign(gradient, "tensor",
                    gradient ? "the backward pass of a finite loss gave NaN" + AtStep(*first) +
                                   ", first in " + first_seen.gradient_names.value_or("") +
                                   ": a derivative that does not exist there, such as that of "
                                   "sqrt or norm at 0"
                             : std::string());
}

/// The first value that was not finite came out of sums and products of finite ones.
Sign LookNanOfOverflow(const Training& training) {
  const Observation* first = FirstReport(training);
  const auto first_seen = As<seen::Nonfinite>(first);
  if (first == nullptr || first_seen.operation.value_or("").empty()) {
    return NotSeenSign();
  }
  const std::string operation = first_seen.operation.value_or("");
  return AnswerSign(first_seen.first == "loss" && !FromOutside(*first) &&
                        !HasNoValueSomewhere(operation) &&
                        !MentionsAny(operation, {"softmax", "attention"}),
                    "tensor",
                    "values overflowed in " + operation + " (" + first_seen.operand_shape.value_or("") +
                        "), while weights and inputs were still finite");
}

Sign LookNanStoodInInput(const Training& training) {
  for (const Observation* report : ObservationsOf(training.run, "nonfinite")) {
    const auto report_seen = As<seen::Nonfinite>(report);
    if (StoodInTheInput(training, *report)) {
      Sign sign = YesSign("tensor", "a value that was not finite stood in what the model was "
                                    "given (" +
                                        report_seen.operand_shape.value_or("") + ", used by " +
                                        report_seen.operation.value_or("") + ")" + AtStep(*report));
      sign.step_from = report->step;
      return sign;
    }
  }
  return NoSign();
}

Sign LookDataNotFinite(const Training& training) {
  const Finding* data = training.run.FindFirst("data/not-finite");
  return ByFinding(
      data, "batch",
      data == nullptr
          ? std::string()
          : HumanNumber(data->Number("values").value_or(0)) + " values of " + data->series +
                " were NaN or infinite" +
                (data->step_from ? " at step " + HumanCount(*data->step_from) : "") +
                ", before the model touched them");
}

/// Few batches are looked at: the bad one may be seen long after it did its work. But what a lost
/// model gives itself to read is lost too, nearly all of it.
Sign LookDataSpoiltByModel(const Training& training) {
  const Finding* data = training.run.FindFirst("data/not-finite");
  const Finding* lost = training.lost;
  return AnswerSign(
      data != nullptr && lost != nullptr && lost->step_from && data->step_from &&
          data->Number("values").value_or(0) > 0.5 * data->Number("of").value_or(0) &&
          *data->step_from > *lost->step_from + 1,
      "batch", "nearly all values of the input were lost, after the loss was");
}

Sign LookInputSpoiltOnTheWay(const Training& training) {
  return AnswerSign(SpoiltOnTheWay(training.run), "batch",
                    "what the model was given was not finite, though the batches were as the "
                    "loader gave them: something between the two divides by zero, or takes a "
                    "logarithm or root that is not there");
}

/// No overflow survives such a scale: these gradients are NaN at any.
Sign LookScalerRefusedAtAnyScale(const Training& training) {
  constexpr double kScale = 1e-4;
  constexpr double kNearlyAll = 0.9;
  const Finding* scale = training.run.FindFirst("scale/keeps-falling");
  const bool refused = scale != nullptr && scale->Number("last").value_or(1) < kScale &&
                       scale->Number("skipped_share").value_or(0) > kNearlyAll;
  return ByFinding(refused ? scale : nullptr, "series",
                   refused ? "the scaler refused nearly every step even at a scale of " +
                                 HumanNumber(scale->Number("last").value_or(0)) +
                                 ": no overflow survives that, the gradients are NaN by "
                                 "themselves"
                           : std::string());
}

Sign LookScaleKeepsFalling(const Training& training) {
  const Finding* scale = training.run.FindFirst("scale/keeps-falling");
  if (scale == nullptr) {
    return NoSign();
  }
  const double skipped = scale->Number("skipped").value_or(0);
  return ByFinding(
      scale, "series",
      "the loss scale fell from " + HumanNumber(scale->Number("first").value_or(0)) + " to " +
          HumanNumber(scale->Number("last").value_or(0)) +
          (skipped > 0 ? "; " + HumanNumber(skipped) + " steps were thrown away (" +
                             Percent(scale->Number("skipped_share").value_or(0)) + ")"
                       : ""));
}

Sign LookUsesHalf(const Training& training) {
  return AnswerSign(UsesHalf(training.run), "model",
                    std::string(OutputsAreHalf(training.run) ? "the outputs" : "the weights") +
                        " are float16, which ends at 65504 above and at 6e-8 below");
}

Sign LookWeightsReportedNan(const Training& training) {
  const Observation* first = FirstReport(training);
  return AnswerSign(first != nullptr && (training.lost != nullptr ||
                                         OrZero(As<seen::Nonfinite>(*first).weights) > 0),
                    "tensor", "the probe saw where the first value was not finite");
}

Sign LookBadInputReported(const Training& training) {
  const Observation* first = FirstReport(training);
  return AnswerSign(first != nullptr && first->Number("bad_input").value_or(0) > 0, "tensor",
                    "the input was not finite when the loss was lost");
}

Sign LookOperandFromOutside(const Training& training) {
  const Observation* first = FirstReport(training);
  return AnswerSign(first != nullptr && FromOutside(*first), "tensor",
                    "the first value that was not finite is an input, a target or a weight");
}

}  // namespace whystop
