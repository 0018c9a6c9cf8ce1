#include "supervise/process_identity.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/parse.h"
#include "base/redact.h"

namespace whystop {

bool ProcIsOurs() {
  std::array<char, 32> text{};
  const ssize_t size = ::readlink("/proc/self", text.data(), text.size());
  return size > 0 && std::string_view(text.data(), static_cast<std::size_t>(size)) ==
                         std::to_string(::getpid());
}

ProcessIdentity LookAtProcess(pid_t pid) {
  constexpr std::size_t kCommandBytesMax = 500;
  ProcessIdentity facts;
  if (!ProcIsOurs()) {
    return facts;
  }
  const std::string folder = "/proc/" + std::to_string(pid);
  if (const auto name = ReadFile(folder + "/comm", 256)) {
    facts.name = Trim(*name);
  }
  if (const auto text = ReadFile(folder + "/cmdline", 16384)) {
    std::vector<std::string> arguments;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find('\0', at), text->size());
      arguments.push_back(text->substr(at, end - at));
      at = end + 1;
    }
    for (const std::string& argument : RedactSecrets(arguments)) {
      facts.command += facts.command.empty() ? argument : " " + argument;
    }
    facts.command.resize(std::min(facts.command.size(), kCommandBytesMax));
  }
  return facts;
}

}  // namespace whystop
