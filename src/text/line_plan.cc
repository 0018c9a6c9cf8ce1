#include "text/line_plan.h"

#include <algorithm>

#include "base/parse.h"
#include "text/countdown.h"
#include "text/guard_words.h"
#include "text/letters.h"
#include "text/number.h"
#include "text/plan_words.h"
#include "text/shape_signatures.h"

namespace whystop {
namespace {

constexpr std::size_t kExactDigitsMax = 15;

bool HasDigit(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char letter) { return IsOf(letter, kLetterDigit); });
}

std::size_t OffsetIn(std::string_view whole, std::string_view part) {
  return part.empty() ? 0 : static_cast<std::size_t>(part.data() - whole.data());
}

}  // namespace

std::optional<MetricPlan::Number> MetricPlan::NumberAt(std::string_view text, std::uint32_t at) {
  const std::optional<NumberToken> token = ReadNumber(text.substr(at));
  if (!token) {
    return std::nullopt;
  }
  Number number{.at = at, .size = static_cast<std::uint32_t>(token->size)};
  std::string_view digits = text.substr(at, token->size);
  digits.remove_prefix(digits[0] == '-' || digits[0] == '+' ? 1 : 0);
  const std::size_t point = digits.find('.');
  const auto count = static_cast<std::size_t>(std::count_if(
      digits.begin(), digits.end(), [](char letter) { return IsOf(letter, kLetterDigit); }));
  number.plain = count > 0 && count <= kExactDigitsMax &&
                 count + (point == std::string_view::npos ? 0 : 1) == digits.size();
  number.decimal = digits.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  number.decimals =
      point == std::string_view::npos ? 0 : static_cast<std::uint32_t>(digits.size() - point - 1);
  return number;
}

bool MetricPlan::ReadValue(const Number& number, std::string_view text, double& out) {
  if (number.plain) {
    out = ReadPlainNumber(text.substr(number.at, number.size), number.decimals);
    return true;
  }
  if (number.decimal) {
    out = ReadDecimal(text.substr(number.at, number.size));
    return true;
  }
  const std::optional<NumberToken> token = ReadNumber(text.substr(number.at));
  out = token ? token->value : 0;
  return token && token->size == number.size;
}

bool MetricPlan::Learn(std::string_view text) {
  found_ = LexMetricLine(text, line_);
  if (line_.by_value) {
    return false;
  }
  if (line_.epoch) {
    epoch_ = NumberAt(text, line_.epoch_at);
  }
  if (line_.epochs) {
    epochs_ = NumberAt(text, line_.epochs_at);
  }
  if (line_.step) {
    step_ = NumberAt(text, line_.step_at);
  }
  if (line_.steps) {
    steps_ = NumberAt(text, line_.steps_at);
  }
  for (const MetricValue& value : line_.values) {
    const std::optional<Number> number = NumberAt(text, value.at);
    if (!number) {
      return false;
    }
    values_.push_back({.key_at = static_cast<std::uint32_t>(OffsetIn(text, value.key)),
                       .key_size = static_cast<std::uint32_t>(value.key.size()),
                       .number = *number});
    fixed_names_ = fixed_names_ && !HasDigit(value.key);
  }
  line_.values = {};
  return epoch_.has_value() == line_.epoch.has_value() &&
         epochs_.has_value() == line_.epochs.has_value() &&
         step_.has_value() == line_.step.has_value() &&
         steps_.has_value() == line_.steps.has_value();
}

bool MetricPlan::ReadCounters(std::string_view text, MetricLine& out) const {
  double value = 0;
  for (const auto& [number, target] : {std::pair(&epoch_, &out.epoch), {&epochs_, &out.epochs}}) {
    if (*number) {
      if (!ReadValue(**number, text, value)) {
        return false;
      }
      *target = value;
    }
  }
  for (const auto& [number, target] : {std::pair(&step_, &out.step), {&steps_, &out.steps}}) {
    if (*number) {
      if (!ReadValue(**number, text, value)) {
        return false;
      }
      *target = static_cast<std::int64_t>(value);
    }
  }
  out.in_progress = out.bar && (out.step != out.steps || out.eta);
  return true;
}

std::optional<bool> MetricPlan::Read(std::string_view text, MetricLine& out) const {
  std::vector<MetricValue> values = std::move(out.values);  // Keeps its memory.
  values.clear();
  out = line_;
  out.values = std::move(values);
  if (!ReadCounters(text, out)) {
    return std::nullopt;
  }
  for (const Value& value : values_) {
    double number = 0;
    if (!ReadValue(value.number, text, number)) {
      return std::nullopt;
    }
    out.values.push_back({.key = text.substr(value.key_at, value.key_size), .value = number});
  }
  return found_;
}

bool LinePlan::Learn(std::string_view line, std::string_view shape) {
  return ParseBar(line) ? LearnBar(line) : LearnText(line, shape);
}

bool LinePlan::LearnBar(std::string_view line) {
  const Bar bar = *ParseBar(line);
  const bool own_label = bar.label.empty() || (bar.label.data() >= line.data() &&
                                               bar.label.data() < line.data() + line.size());
  if (!own_label) {
    return false;  // A bar of mmcv.
  }
  is_bar_ = true;
  const auto part = [line](std::string_view text) {
    return Part{.at = OffsetIn(line, text), .size = text.size()};
  };
  label_ = part(bar.label);
  postfix_ = part(bar.postfix);
  has_done_ = bar.done.has_value();
  has_total_ = bar.total.has_value();
  done_ = part(bar.done_text);
  total_ = part(bar.total_text);
  bar_size_ = bar.size;
  bar_label_ = DescribeLabel(bar.label);
  return metrics_.Learn(bar.postfix);
}

bool LinePlan::LearnText(std::string_view line, std::string_view shape) {
  peeled_ = PeelPrefix(line);
  body_at_ = line.size() - peeled_.body.size();
  quiet_ = !ShapeMayHoldSignature(shape.substr(body_at_));
  guards_ = ReadNanGuard(peeled_.body) != NanGuard::kNone;
  counts_down_ = ReadTimeLeft(peeled_.body) != TimeLeft::kNotSaid;
  MetricLine metrics;
  plans_ = LexMetricLine(peeled_.body, metrics) && MaySpeakOfPlan(peeled_.body, metrics);
  return metrics_.Learn(peeled_.body);
}

std::optional<Bar> LinePlan::BarOf(std::string_view line) const {
  if (!is_bar_) {
    return std::nullopt;
  }
  Bar bar;
  bar.label = label_.Of(line);
  bar.postfix = postfix_.Of(line);
  bar.done = has_done_ ? ParseWhole<std::int64_t>(done_.Of(line)) : std::nullopt;
  bar.total = has_total_ ? ParseWhole<std::int64_t>(total_.Of(line)) : std::nullopt;
  bar.size = bar_size_;
  bar.known_label = &bar_label_;
  return bar;
}

PeeledLine LinePlan::Peel(std::string_view line) const {
  if (peeled_.rank) {
    return PeelPrefix(line);
  }
  PeeledLine out = peeled_;
  out.body = line.substr(body_at_);
  return out;
}

}  // namespace whystop
