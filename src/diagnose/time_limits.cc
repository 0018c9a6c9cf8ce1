#include "diagnose/time_limits.h"

#include <algorithm>

#include "base/human_parse.h"

namespace whystop {
namespace {

constexpr std::size_t kBegunMax = 64;
// The process tree is looked at once a second: a start is seen that much late, and an end too.
constexpr std::chrono::seconds kSeenLate(1);

std::string_view TakeWord(std::string_view& rest) {
  const std::size_t size = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, size);
  rest.remove_prefix(std::min(rest.size(), size + 1));
  return word;
}

}  // namespace

std::optional<std::chrono::nanoseconds> TimeGranted(std::string_view command) {
  const std::string_view program = TakeWord(command);
  if (program.substr(program.find_last_of('/') + 1) != "timeout") {
    return std::nullopt;
  }
  while (command.starts_with('-')) {
    const std::string_view option = TakeWord(command);
    if (option == "-k" || option == "-s") {
      TakeWord(command);
    }
  }
  return ParseDuration(TakeWord(command));
}

void TimeLimits::Push(const ProcessStart& started, RunTime at) {
  if (started.name == "timeout" && begun_.size() < kBegunMax) {
    begun_[started.pid] = {started.command, at};
  }
}

std::optional<std::string> TimeLimits::Push(const ProcessEnd& ended, RunTime at) {
  const auto found = begun_.find(ended.pid);
  if (found == begun_.end()) {
    return std::nullopt;
  }
  const Begun begun = found->second;
  begun_.erase(found);
  const auto granted = TimeGranted(begun.command);
  const auto lived = at - begun.at;
  const bool met = granted && *granted > 2 * kSeenLate && lived >= *granted - kSeenLate && lived <= *granted + 2 * kSeenLate;
  return met ? std::optional(begun.command) : std::nullopt;
}

}  // namespace whystop
