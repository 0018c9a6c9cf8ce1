#include "sign/words.h"

#include <algorithm>
#include <cctype>

#include "base/human.h"

namespace whystop {

bool MentionsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::any_of(words.begin(), words.end(), [&lower](std::string_view word) {
    return lower.find(word) != std::string::npos;
  });
}

std::string Percent(double share) { return HumanNumber(100 * share, share < 0.995 ? 2 : 3) + " %"; }

std::string FactText(const Finding& finding, const std::string& name) {
  const Fact* fact = finding.FindFact(name);
  return fact == nullptr ? std::string() : fact->text;
}

}  // namespace whystop
