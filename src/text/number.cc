#include "text/number.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace whystop {
namespace {

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }
bool IsWordLetter(char letter) {
  return IsDigit(letter) || ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'z') || letter == '_';
}
char Lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
}

bool StartsWithWord(std::string_view text, std::string_view word) {
  if (text.size() < word.size() || (text.size() > word.size() && IsWordLetter(text[word.size()]))) {
    return false;
  }
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (Lower(text[at]) != word[at]) {
      return false;
    }
  }
  return true;
}

std::optional<NumberToken> ReadNamed(std::string_view text, std::size_t sign) {
  const std::string_view word = text.substr(sign);
  const double signum = sign > 0 && text[0] == '-' ? -1 : 1;
  if (StartsWithWord(word, "nan")) {
    return NumberToken{
        .value = std::numeric_limits<double>::quiet_NaN(), .whole = false, .size = sign + 3};
  }
  for (const std::string_view name : {"inf", "infinity"}) {
    if (StartsWithWord(word, name)) {
      return NumberToken{.value = signum * std::numeric_limits<double>::infinity(),
                         .whole = false,
                         .size = sign + name.size()};
    }
  }
  return std::nullopt;
}

/// "tensor(0.43, device='cuda:0', grad_fn=<NllLossBackward0>)", "np.float64(0.43)".
std::optional<NumberToken> ReadWrapped(std::string_view text) {
  for (const std::string_view name :
       {"tensor(", "np.float64(", "np.float32(", "numpy.float64(", "array("}) {
    if (!text.starts_with(name)) {
      continue;
    }
    const std::optional<NumberToken> inner = ReadNumber(text.substr(name.size()));
    if (!inner) {
      return std::nullopt;
    }
    const std::size_t end = text.find(')', name.size());
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    return NumberToken{.value = inner->value, .whole = false, .size = size};
  }
  return std::nullopt;
}

constexpr double kPowers[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                              1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/// Small whole and decimal numbers, exactly: digits below 2^53 over a power of ten up to 10^22
/// round once.
bool ReadShort(std::string_view text, NumberToken& out) {
  std::size_t at = text[0] == '-' || text[0] == '+' ? 1 : 0;
  const std::size_t first = at;
  std::uint64_t digits = 0;
  while (at < text.size() && IsDigit(text[at])) {
    digits = digits * 10 + static_cast<std::uint64_t>(text[at++] - '0');
  }
  std::size_t count = at - first;
  std::size_t decimals = 0;
  if (at < text.size() && text[at] == '.') {
    const std::size_t point = at++;
    while (at < text.size() && IsDigit(text[at])) {
      digits = digits * 10 + static_cast<std::uint64_t>(text[at++] - '0');
    }
    decimals = at - point - 1;
    count += decimals;
    if (decimals == 0) {
      --at;  // "Finish epoch 0. loss": the point ends the sentence.
    }
  }
  if (count == 0 || count > 15 || (at < text.size() && Lower(text[at]) == 'e')) {
    return false;
  }
  const double magnitude = static_cast<double>(digits) / kPowers[decimals];
  out = {.value = text[0] == '-' ? -magnitude : magnitude, .whole = decimals == 0, .size = at};
  return true;
}

/// What follows decides: "12:30" is a time, "2.5.1" a version, "2024-10-18" a date, "12abc34" a
/// name.
bool EndsLikeNumber(std::string_view text, const NumberToken& token) {
  if (token.size >= text.size()) {
    return true;
  }
  const char next = text[token.size];
  const char after = token.size + 1 < text.size() ? text[token.size + 1] : ' ';
  if ((next == ':' || next == '.') && IsDigit(after)) {
    return false;
  }
  if (next == '-' && token.whole && (IsDigit(after) || IsWordLetter(after))) {
    return false;
  }
  if (next == '_' || next == 'x' || next == 'X') {
    return false;
  }
  if (!IsWordLetter(next)) {
    return true;
  }
  std::size_t end = token.size;  // A unit: "ms", "GB", "it", "s".
  while (end < text.size() && IsWordLetter(text[end])) {
    if (IsDigit(text[end]) || end - token.size > 4) {
      return false;
    }
    ++end;
  }
  return true;
}

/// "12,000": groups of three digits.
void JoinThousands(std::string_view text, NumberToken& token) {
  while (token.size + 3 < text.size() && text[token.size] == ',' &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(token.size) + 1,
                     text.begin() + static_cast<std::ptrdiff_t>(token.size) + 4, IsDigit) &&
         (token.size + 4 >= text.size() || !IsDigit(text[token.size + 4])) && token.value < 1e12) {
    const std::string_view group = text.substr(token.size + 1, 3);
    token.value =
        token.value * 1000 + (group[0] - '0') * 100 + (group[1] - '0') * 10 + (group[2] - '0');
    token.size += 4;
  }
}

}  // namespace

double ReadDecimal(std::string_view token) {
  token.remove_prefix(token[0] == '+' ? 1 : 0);
  double value = 0;
  fast_float::from_chars(token.data(), token.data() + token.size(), value);
  return value;
}

double ReadPlainNumber(std::string_view text, std::size_t decimals) {
  std::uint64_t digits = 0;
  for (const char letter : text) {
    const auto digit = static_cast<unsigned>(letter) - '0';
    digits = digit <= 9 ? digits * 10 + digit : digits;  // Skips sign and point.
  }
  const double magnitude = static_cast<double>(digits) / kPowers[decimals];
  return text[0] == '-' ? -magnitude : magnitude;
}

std::optional<NumberToken> ReadNumber(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const std::size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
  if (sign >= text.size()) {
    return std::nullopt;
  }
  const char first = text[sign];
  if (!IsDigit(first) && first != '.') {
    const std::optional<NumberToken> named = ReadNamed(text, sign);
    return named ? named : ReadWrapped(text);
  }
  if (first == '.' && (sign + 1 >= text.size() || !IsDigit(text[sign + 1]))) {
    return std::nullopt;
  }
  NumberToken token;
  if (!ReadShort(text, token)) {
    const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
    const auto [end, fault] = fast_float::from_chars(begin, text.data() + text.size(), token.value);
    if (fault != std::errc{}) {
      return std::nullopt;
    }
    token.size = static_cast<std::size_t>(end - text.data());
    token.whole = text.substr(0, token.size).find_first_of(".eE") == std::string_view::npos;
  }
  if (token.whole && token.size <= 3 && token.size < text.size() && text[token.size] == ',') {
    JoinThousands(text, token);
  }
  return EndsLikeNumber(text, token) ? std::optional<NumberToken>(token) : std::nullopt;
}

}  // namespace whystop
