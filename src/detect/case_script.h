#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"

namespace whystop {

/// One "expect" line of a .case file: what must come out, and details of it.
struct CaseExpectation {
  std::string what;  // A detector or cause id, "nothing" or "nothing-else".
  std::map<std::string, std::string> details;  // "step" -> "500", "state" -> "converged"
};

/// A run described in a few lines of text, and what is expected of it. Read by the tests of
/// detectors and causes only; docs/cases.md describes the lines.
struct CaseScript {
  std::string title;          // The first line, in prose.
  std::vector<Event> events;  // In order of time; a step takes one second.
  std::vector<CaseExpectation> expectations;
};

Result<CaseScript> ReadCaseScript(std::string_view text);

}  // namespace whystop
