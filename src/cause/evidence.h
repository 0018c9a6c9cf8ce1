#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/verdict.h"

namespace whystop {

// One line each for what a weigher says most often. `kind` names the source: "exit-status",
// "cgroup-counter", "kernel-log", "sample", "signal", "log-line", "exception", "environment".

inline Evidence Decisive(std::string kind, std::string text, std::vector<Fact> values = {}) {
  return {.weight = Evidence::Weight::kDecisive,
          .kind = std::move(kind),
          .text = std::move(text),
          .values = std::move(values)};
}
inline Evidence Supports(std::string kind, std::string text, std::vector<Fact> values = {}) {
  return {.weight = Evidence::Weight::kSupporting,
          .kind = std::move(kind),
          .text = std::move(text),
          .values = std::move(values)};
}
inline Evidence Contradicts(std::string kind, std::string text, std::vector<Fact> values = {}) {
  return {.weight = Evidence::Weight::kContradicting,
          .kind = std::move(kind),
          .text = std::move(text),
          .values = std::move(values)};
}
inline Evidence Missing(std::string kind, std::string text) {
  return {.weight = Evidence::Weight::kMissing, .kind = std::move(kind), .text = std::move(text)};
}

}  // namespace whystop
