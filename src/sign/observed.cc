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

}  // namespace whystop
