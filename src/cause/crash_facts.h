#pragma once

#include <string_view>

#include "cause/cause.h"

namespace whystop {

struct CrashKind {
  int signal = 0;
  std::string_view text;
};

/// What all deaths by a synchronous signal have in common: the wait status decides, the kernel's
/// line and the sender (a crash has none) tell a real fault from a `kill -SEGV`.
void WeighCrash(const CaseFile& run, const CrashKind& kind, Hypothesis& out);

}  // namespace whystop
