#include "sign/optimizer_tensors.h"

#include <algorithm>

#include "model/observations.h"
#include "sign/observed.h"

namespace whystop {
namespace {

/// Its tensors have no names because no module that ran holds them; what the loss got depends on
/// weights none the less.
bool HoldsAnotherModel(const CaseFile& run) {
  const Observation* without = run.FindObservation("parameter-without-gradient");
  const auto calls = ObservationsOf(run, "loss-call");
  return without != nullptr && As<seen::ParameterWithoutGradient>(*without).names.value_or("").starts_with("parameter0") &&
         run.FindObservation("model") == nullptr &&
         std::any_of(calls.begin(), calls.end(), [](const Observation* call) {
           return As<seen::LossCall>(*call).input_requires_grad.value_or(false);
         });
}

}  // namespace

bool NoGradientsInOptimizer(const CaseFile& run) {
  const auto checks = ObservationsOf(run, "gradients-present");
  return OrZero(CountsOf(run).backwards) > 0 && !checks.empty() &&
         std::all_of(checks.begin(), checks.end(), [](const Observation* present) {
           const auto present_seen = As<seen::GradientsPresent>(present);
           return OrZero(present_seen.without) > 0 &&
                  OrZero(present_seen.without) >= OrZero(present_seen.tensors) - OrZero(present_seen.frozen);
         });
}

bool ZeroedBeforeStep(const CaseFile& run) {
  const Observation* present = run.FindObservation("gradients-present");
  return present != nullptr && As<seen::GradientsPresent>(*present).zeroed_before_step.value_or(false) &&
         NoGradientsInOptimizer(run);
}

const Observation* LeftInNoOptimizer(const CaseFile& run) {
  const auto compared = ObservationsOf(run, "parameter-not-in-optimizer");
  const auto made = ObservationsOf(run, "optimizer");
  if (compared.empty()) {
    return nullptr;
  }
  // A stage with an optimizer of its own is compared anew.
  const Observation* left = compared.back();
  const bool is_past = !made.empty() && made.back()->step && left->step && *made.back()->step > *left->step;
  return is_past ? nullptr : left;
}

bool OptimizerHoldsOthers(const CaseFile& run) {
  const auto optimizers = ObservationsOf(run, "optimizer");
  const bool orphans =
      !optimizers.empty() && OrZero(As<seen::Optimizer>(*optimizers.front()).tensors_of_no_module) > 0;
  return orphans || LeftInNoOptimizer(run) != nullptr ||
         HoldsAnotherModel(run);
}

}  // namespace whystop
