#pragma once

#include <optional>
#include <string>

#include "model/case_file.h"

namespace whystop {

/// What a run is by its own loops: how many turns of the innermost one were planned in all, and how
/// many were made. Only of `for` loops without any way out but their end.
struct PlanKept {
  double planned = 0;  // 0: how many an epoch has is not known.
  double made = 0;
  double epochs = 0;
  double epoch = 0;    // That was begun last.
};
/// Such a loop was left long before its end, and the program ended well: an exception was caught
/// outside of it. nullopt: not so.
std::optional<PlanKept> LeftByAnException(const CaseFile& run);
/// "300 of 1,200 planned steps were made", "1 of 12 planned epochs was begun".
std::string DescribePlanKept(const PlanKept& kept);

}  // namespace whystop
