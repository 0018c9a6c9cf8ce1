#include "model/label_counts.h"

#include <cmath>
#include <vector>

#include "base/parse.h"

namespace whystop {

std::optional<double> LabelEntropy(std::string_view counts) {
  std::vector<double> numbers;
  double sum = 0;
  for (std::size_t colon = counts.find(':'); colon != std::string_view::npos;
       colon = counts.find(':', colon + 1)) {
    const std::string_view rest = counts.substr(colon + 1);
    numbers.push_back(ParseWhole<double>(rest.substr(0, rest.find(','))).value_or(0));
    sum += numbers.back();
  }
  if (numbers.size() < 2) {
    return std::nullopt;
  }
  double entropy = 0;
  for (const double number : numbers) {
    entropy -= number > 0 ? number / sum * std::log(number / sum) : 0;
  }
  return entropy;
}

}  // namespace whystop
