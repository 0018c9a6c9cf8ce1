#include "look/source_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/parse.h"

namespace whystop {

void AddSource(pid_t pid, Frame& frame) {
  if (frame.line <= 0 || frame.file.starts_with('<')) {
    return;
  }
  const std::string path = frame.file.starts_with('/')
                               ? fmt::format("/proc/{}/root{}", pid, frame.file)
                               : fmt::format("/proc/{}/cwd/{}", pid, frame.file);
  constexpr std::size_t kSourceBytesMax = 4 << 20, kLineMax = 200;
  const auto text = ReadFile(path, kSourceBytesMax);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  for (std::int64_t line = 1; line < frame.line && !rest.empty(); ++line) {
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  }
  frame.source = std::string(Trim(rest.substr(0, rest.find('\n'))).substr(0, kLineMax));
}

}  // namespace whystop
