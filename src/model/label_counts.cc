#include "model/label_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/parse.h"

namespace whystop {

namespace {

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

double WeightOf(std::string_view label, const std::vector<std::string_view>& weights) {
  const std::size_t place = ParseWhole<std::size_t>(label).value_or(weights.size());
  return place < weights.size() ? ParseWhole<double>(weights[place]).value_or(1) : 1;
}

std::vector<double> NumbersOf(std::string_view counts, std::string_view weights) {
  const auto weight_of = Split(weights);
  std::vector<double> numbers;
  for (const auto& [label, count] : ByLabel(counts)) {
    numbers.push_back(count * WeightOf(label, weight_of));
  }
  return numbers;
}

double PartOfEntropy(double share) { return share > 0 ? -share * std::log(share) : 0; }

}  // namespace

std::map<std::string, double> ByLabel(std::string_view text) {
  std::map<std::string, double> found;
  for (const std::string_view part : Split(text)) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    if (const auto number = ParseWhole<double>(part.substr(std::min(colon + 1, part.size())))) {
      found.emplace(part.substr(0, colon), *number);
    }
  }
  return found;
}

std::optional<double> LabelEntropy(std::string_view counts, std::string_view weights) {
  const std::vector<double> numbers = NumbersOf(counts, weights);
  if (numbers.size() < 2) {
    return std::nullopt;
  }
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  double entropy = 0;
  for (const double number : numbers) {
    entropy += PartOfEntropy(number / sum);
  }
  return entropy;
}

std::optional<double> LabelEntropyOfMany(std::string_view counts, double classes, double samples) {
  const std::vector<double> numbers = NumbersOf(counts, {});
  const double others = classes - static_cast<double>(numbers.size());
  const double left = samples - std::accumulate(numbers.begin(), numbers.end(), 0.0);
  if (numbers.size() < 2 || others <= 0 || left <= 0) {
    return LabelEntropy(counts);
  }
  double entropy = others * PartOfEntropy(left / others / samples);
  for (const double number : numbers) {
    entropy += PartOfEntropy(number / samples);
  }
  return entropy;
}

}  // namespace whystop
