#include "supervise/process_identity.h"

#include <algorithm>
#include <vector>

#include "base/fd.h"
#include "base/parse.h"
#include "base/redact.h"

namespace whystop {

ProcessIdentity LookAtProcess(pid_t pid) {
  constexpr std::size_t kCommandBytesMax = 500;
  ProcessIdentity facts;
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
