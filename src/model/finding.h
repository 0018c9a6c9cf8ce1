#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"

namespace whystop {

/// A named figure or word that backs a finding.
struct Fact {
  std::string name = {};  // "usual_loss"
  double value = 0;
  std::string text = {};  // Used instead of the value when not empty.
};

/// What a detector saw: what, how far beyond normal, over which steps. Causes read findings by id
/// only.
struct Finding {
  std::string detector = {};  // "loss/not-finite"
  RunTime at{};
  std::optional<std::int64_t> step_from = {};
  std::optional<std::int64_t> step_to = {};
  double strength = 1;      // 1 is at the threshold; how many times beyond it.
  std::string series = {};  // The series or tensor it is about, in the user's own name.
  std::vector<Fact> facts = {};

  const Fact* FindFact(const std::string& name) const {
    for (const Fact& fact : facts) {
      if (fact.name == name) {
        return &fact;
      }
    }
    return nullptr;
  }
  std::optional<double> Number(const std::string& name) const {
    const Fact* fact = FindFact(name);
    return fact == nullptr ? std::nullopt : std::optional<double>(fact->value);
  }
};

class FindingSink {
 public:
  virtual ~FindingSink() = default;
  virtual void Add(Finding finding) = 0;
};

}  // namespace whystop
