#pragma once

#include <string_view>

namespace whystop {

/// What a line says of a loss that is no longer finite, in the words of the program itself.
enum class NanGuard {
  kNone,
  kTold,     // "Loss is NaN at batch 12": a guard's word only where nothing follows it.
  kStopped,  // "loss became nan, aborting".
};

/// A matter of words alone. Phrases of frameworks are rows of the signature table.
NanGuard ReadNanGuard(std::string_view body);

}  // namespace whystop
