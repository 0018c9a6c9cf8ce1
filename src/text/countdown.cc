#include "text/countdown.h"

#include <algorithm>
#include <cctype>

namespace whystop {
namespace {

bool IsAlpha(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }
bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }

/// Where the value behind an "eta" at `at` begins; npos: it is part of another word ("beta", "metadata").
std::size_t ValueBehind(std::string_view body, std::size_t at) {
  std::size_t end = at + 3;
  for (const std::string_view unit : {"_seconds", "_sec", " seconds", " (s)", "(s)", "_s"}) {
    if (body.substr(end).starts_with(unit)) {
      end += unit.size();
      break;
    }
  }
  const bool word = (at == 0 || (!IsAlpha(body[at - 1]) && body[at - 1] != '_')) && end < body.size() && !IsAlpha(body[end]);
  const std::size_t value = word ? body.find_first_not_of(" :='\"", end) : std::string_view::npos;
  return value != std::string_view::npos && value > end && IsDigit(body[value]) ? value : std::string_view::npos;
}

}  // namespace

TimeLeft ReadTimeLeft(std::string_view body) {
  for (std::size_t at = 0; at + 3 < body.size(); ++at) {
    const std::string_view word = body.substr(at, 3);
    const std::size_t value = word == "eta" || word == "ETA" ? ValueBehind(body, at) : std::string_view::npos;
    if (value != std::string_view::npos) {
      // "0:00:00", "0h 0m 0s", "0.0s", "1 day, 2:03:04": any digit but 0 in it is time.
      const std::string_view text = body.substr(value, body.find_first_not_of("0123456789:.hms ", value) - value);
      const bool day = body.substr(value + text.size()).starts_with("day");
      const bool some = day || std::any_of(text.begin(), text.end(), [](char letter) { return letter >= '1' && letter <= '9'; });
      return some ? TimeLeft::kSome : TimeLeft::kNone;
    }
  }
  return TimeLeft::kNotSaid;
}

}  // namespace whystop
