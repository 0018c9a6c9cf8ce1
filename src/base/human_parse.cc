#include "base/human_parse.h"

#include "base/parse.h"

namespace whystop {
namespace {

// Far beyond what anybody means, and far below where nanoseconds and bytes overflow.
constexpr double kSecondsMax = 100.0 * 365 * 86400;
constexpr double kBytesMax = 1e18;

}  // namespace

std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  constexpr std::string_view kLetters = "smhdw";
  constexpr double kSeconds[] = {1, 60, 3600, 86400, 7 * 86400};
  double unit = 1;
  if (const auto letter = text.empty() ? kLetters.npos : kLetters.find(text.back()); letter != kLetters.npos) {
    unit = kSeconds[letter];
    text.remove_suffix(1);
  }
  const auto count = ParseWhole<double>(text);
  if (!count || !(*count > 0) || *count * unit > kSecondsMax) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(*count * unit));
}

std::optional<std::int64_t> ParseBytes(std::string_view text) {
  constexpr std::string_view kLetters = "KMGTP";
  for (const std::string_view ending : {"iB", "B"}) {
    if (text.ends_with(ending)) {
      text.remove_suffix(ending.size());
      break;
    }
  }
  double unit = 1;
  if (!text.empty()) {
    const char last = text.back() == 'k' ? 'K' : text.back();
    if (const auto letter = kLetters.find(last); letter != kLetters.npos) {
      for (std::size_t i = 0; i <= letter; ++i) {
        unit *= 1024;
      }
      text.remove_suffix(1);
    }
  }
  const auto count = ParseWhole<double>(Trim(text));
  if (!count || !(*count >= 0) || *count * unit > kBytesMax) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*count * unit);
}

}  // namespace whystop
