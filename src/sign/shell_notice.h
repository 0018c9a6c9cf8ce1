#pragma once

#include <cstdint>
#include <optional>

#include "model/case_file.h"

namespace whystop {

/// "run.sh: line 8:  6518 Bus error   python train.py", or "Bus error" alone: a shell tells how its child ended. Nobody
/// else knows: the status went to the shell, which may go on and return 0.
struct ShellNotice {
  std::int64_t pid = 0;  // 0: not told.
  int signal = 0;
};

/// Of the process that trained, where one is known, else of any of the job; nullopt: there is none, or training went on.
std::optional<ShellNotice> FindShellNotice(const CaseFile& run);

}  // namespace whystop
