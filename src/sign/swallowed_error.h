#pragma once

#include <optional>
#include <string>

#include "model/case_file.h"

namespace whystop {

/// Where an exception was when it was taken for nothing.
enum class SwallowedAt {
  kFrameworkCall,  // It left the framework's training, and the program went on.
  kHandlerExit,    // A statement of an `except` leaves the batch loop, pass after pass.
  kLoader,         // The data loader raised it, pass after pass.
  kCall,           // A call raised it, and with it loops were left that have no other way out.
  kEveryCall,      // A call raised it again and again, and no step was made between.
  kLoop,           // It left the training loop, or an `except` left the loop with it.
  kAgain,          // Caught again and again inside the loop.
};

/// An exception that cost training and did not end the program.
struct SwallowedError {
  SwallowedAt at = SwallowedAt::kLoop;
  const Observation* seen = nullptr;
  std::string type;
  std::string message;
};

/// The one to tell of; nullopt: none was seen, or what was caught cost nothing.
std::optional<SwallowedError> FindSwallowedError(const CaseFile& run);

/// How often an `except` of the loops took one, at least.
double TimesCaught(const CaseFile& run);

/// Whether the exceptions that an `except` of the loops took ended passes over the data.
bool CutsPassesShort(const CaseFile& run);

}  // namespace whystop
