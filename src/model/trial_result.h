#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace whystop {

/// One experiment of `whystop try`, as reports show it beside the verdict: the same program again with
/// one thing changed.
struct TrialResult {
  enum class Says { kProven, kRefuted, kNeither, kNotTested };
  std::string change;  // What was changed, for people: "learning rate x 0.1"; "nothing".
  std::string spec;    // The same for the probe: "lr-times=0.1".
  std::string cause;   // The cause that it speaks for or against; empty: none by itself.
  Says says = Says::kNeither;
  std::string text;       // One sentence with its figures.
  std::string recording;  // The folder of its recording; empty: it was not run.
  std::vector<Fact> values;
};

std::string_view Name(TrialResult::Says says);

}  // namespace whystop
