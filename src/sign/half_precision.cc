#include "sign/half_precision.h"

#include <algorithm>

#include "model/observations.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {

bool UsesHalf(const CaseFile& run) {
  const Observation* model = run.FindObservation("model");
  const auto model_seen = As<seen::Model>(model);
  const bool weights = MentionsAny(model_seen.dtypes.value_or(""), {"float16"}) &&
                       !MentionsAny(model_seen.dtypes.value_or(""), {"bfloat16"});
  return weights || OutputsAreHalf(run);
}

bool OutputsAreHalf(const CaseFile& run) {
  const auto calls = ObservationsOf(run, "loss-call");
  return run.FindObservation(seen::HalfOutput::kKind) != nullptr || std::any_of(calls.begin(), calls.end(), [](const Observation* call) {
    return As<seen::LossCall>(*call).input_dtype == "float16";
  });
}

}  // namespace whystop
