#include "sign/observed.h"

namespace whystop {

std::vector<const Observation*> ObservationsOf(const CaseFile& run, std::string_view kind) {
  std::vector<const Observation*> found;
  for (const Observation& observation : run.observations) {
    if (observation.kind == kind) {
      found.push_back(&observation);
    }
  }
  return found;
}

seen::Counts CountsOf(const CaseFile& run) {
  return As<seen::Counts>(run.FindObservation(seen::Counts::kKind));
}

double StepsMade(const CaseFile& run) {
  const auto by_hand = As<seen::UpdatesByHand>(run.FindObservation(seen::UpdatesByHand::kKind));
  const seen::Counts counts = CountsOf(run);
  const bool changed = by_hand.changed.value_or(0) > 0 && OrZero(counts.steps) == 0;
  return changed ? OrZero(counts.backwards) : OrZero(counts.steps);
}

}  // namespace whystop
