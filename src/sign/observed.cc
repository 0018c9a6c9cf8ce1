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

const Observation* LoopNeverTurned(const CaseFile& run) {
  const Observation* last = run.FindObservation(seen::LoopNeverTurned::kKind);
  if (run.FindObservation(seen::CheckpointLoaded::kKind) == nullptr) {
    return last;
  }
  for (const Observation* loop : ObservationsOf(run, seen::LoopNeverTurned::kKind)) {
    if (!As<seen::LoopNeverTurned>(*loop).start) {
      return loop;
    }
  }
  return last;
}

}  // namespace whystop
