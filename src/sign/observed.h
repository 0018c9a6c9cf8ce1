#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/case_file.h"
#include "model/observations.h"

namespace whystop {

/// All observations of a kind, in order.
std::vector<const Observation*> ObservationsOf(const CaseFile& run, std::string_view kind);
/// The training loop that made no turn. Of loops inside each other the outer one, where it goes on from somewhere and the state of an
/// earlier run was loaded: the inner one was never come to. nullptr: there is none.
const Observation* LoopNeverTurned(const CaseFile& run);
/// As a figure to reckon with, where what is absent counts as none.
template <typename T>
double OrZero(const std::optional<T>& value) {
  return value ? static_cast<double>(*value) : 0;
}
/// The totals that the probe told last.
seen::Counts CountsOf(const CaseFile& run);
/// How often the weights were changed: by an optimizer, or by hand, which happens once a backward pass.
double StepsMade(const CaseFile& run);

}  // namespace whystop
