#include "sense/process_limits.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"

namespace whystop {

std::map<std::string, std::int64_t> ParseProcessLimits(std::string_view text) {
  constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"Max cpu time", "cpu"},          {"Max file size", "fsize"},       {"Max data size", "data"},
      {"Max stack size", "stack"},      {"Max core file size", "core"},   {"Max resident set", "rss"},
      {"Max processes", "nproc"},       {"Max open files", "nofile"},     {"Max locked memory", "memlock"},
      {"Max address space", "as"},      {"Max file locks", "locks"},      {"Max pending signals", "sigpending"},
      {"Max msgqueue size", "msgqueue"}};
  std::map<std::string, std::int64_t> limits;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    for (const auto& [title, name] : kNames) {
      if (!line.starts_with(title)) {
        continue;
      }
      const std::string_view rest = Trim(line.substr(title.size()));
      if (const auto soft = ParseWhole<std::int64_t>(rest.substr(0, rest.find(' ')))) {
        limits[name] = *soft;
      }
    }
  }
  return limits;
}

}  // namespace whystop
