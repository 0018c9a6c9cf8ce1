#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"

namespace whystop {

/// One row of signatures.tsv: a phrase that tells something about a run's end or health.
struct Signature {
  enum class Kind { kLiteral, kRegex, kWholeLine };
  enum class Severity { kInfo, kWarn, kError, kFatal };

  std::string_view cause;
  Kind kind = Kind::kLiteral;
  std::string_view
      pattern;  // RE2 syntax for kRegex; `^` is the start of the line without its logger prefix.
  Severity severity = Severity::kInfo;
  LogFact::Role role = LogFact::Role::kContext;
  bool generic = false;
  std::string_view example;
};

/// Reads the table; a row that cannot be read is left out and named in `faults`.
std::vector<Signature> ParseSignatures(std::string_view table, std::vector<std::string>& faults);

/// The compiled-in table.
std::span<const Signature> AllSignatures();

/// The longest text that every match of the signature must contain; may be empty.
std::string RequiredLiteral(const Signature& signature);

}  // namespace whystop
