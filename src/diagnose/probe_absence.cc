#include "diagnose/probe_absence.h"

namespace whystop {
namespace {

bool IsPython(std::string_view word) {
  const std::string_view name = word.substr(word.find_last_of('/') + 1);
  return name.substr(0, 6) == "python" &&
         name.find_first_not_of("0123456789.", 6) == std::string_view::npos;
}

std::string_view OptionIn(std::string_view cluster) {
  for (const char c : cluster.substr(1)) {
    switch (c) {
      case 'I':
        return "-I";
      case 'E':
        return "-E";
      case 'S':
        return "-S";
      case 'W':  // The rest of the word is its value.
      case 'X':
        return "";
      default:
        break;
    }
  }
  return "";
}

}  // namespace

std::string_view OptionAgainstProbe(const std::vector<std::string>& command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (!IsPython(command[i])) {
      continue;
    }
    for (std::size_t at = i + 1; at < command.size(); ++at) {
      const std::string_view word = command[at];
      if (word.size() < 2 || word[0] != '-' || word == "-c" || word == "-m" ||
          word.substr(0, 2) == "--") {
        break;
      }
      if (word == "-W" || word == "-X") {
        ++at;
      } else if (const std::string_view option = OptionIn(word); !option.empty()) {
        return option;
      }
    }
    return "";
  }
  return "";
}

}  // namespace whystop
