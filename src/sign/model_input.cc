#include "sign/model_input.h"

#include <cmath>

#include "model/observations.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {

const Observation* ModelInput(const CaseFile& run) {
  for (const char* kind : {"model-input", "batch"}) {
    for (const Observation* seen : ObservationsOf(run, kind)) {
      const auto told = As<seen::ModelInput>(seen);
      if (MentionsAny(told.dtype.value_or(""), {"float"}) && told.std) {
        return seen;
      }
    }
  }
  return nullptr;
}

double SizeOf(const Observation& tensor) {
  const auto tensor_seen = As<seen::ModelInput>(tensor);
  return std::hypot(tensor_seen.mean.value_or(0), tensor_seen.std.value_or(0));
}

}  // namespace whystop
