#pragma once

#include <optional>

#include "cli/options.h"

namespace whystop {

struct ParsedLine {
  std::optional<Options> options;  // Absent: the line was answered (help, version) or refused.
  int exit_code = 0;
};

/// Reads the command line. Prints help, the version or what is wrong with the line by itself.
ParsedLine ParseCommandLine(int argc, char** argv);

}  // namespace whystop
