#pragma once

#include <optional>
#include <string>

#include "try/conclude.h"
#include "try/trial.h"

namespace whystop {

/// A proven fix in the user's own source.
struct SourceFix {
  std::string file;
  std::string before;  // The whole text.
  std::string after;
  std::string diff;    // Unified.
};

/// The change of one line that does what the trial did; nullopt: the line is not known for sure.
/// `text` is the source that the survey of the untouched trial names.
std::optional<SourceFix> FixIn(const std::string& file, const std::string& text, const Proof& proof,
                               const Trial& as_is, const Trial& proven);

/// The same, reading the file.
std::optional<SourceFix> FindSourceFix(const Proof& proof, const Trial& as_is, const Trial& proven);

}  // namespace whystop
