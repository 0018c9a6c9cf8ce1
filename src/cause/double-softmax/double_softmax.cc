#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighDoubleSoftmax(const CaseFile& run, Hypothesis& out) {
  if (NothingMoved(run)) {
    return;
  }
  const auto calls = LossCalls(run, {"cross_entropy"});
  std::size_t probabilities = 0;
  for (const Observation* call : calls) {
    probabilities += NumberOf(*call, "sums_to_one") > 0 && NumberOf(*call, "classes") >= 2 ? 1 : 0;
  }
  if (calls.size() >= 2 && probabilities == calls.size()) {
    const double classes = NumberOf(*calls.back(), "classes");
    out.Add(Decisive("loss-call", "cross_entropy was given probabilities in all " +
                                      HumanNumber(static_cast<double>(calls.size())) +
                                      " calls looked at: each row sums to 1. It applies softmax "
                                      "itself, so the loss cannot fall below " +
                                      HumanNumber(std::log(1 + (classes - 1) / std::exp(1.0)))));
    out.Fix("leave the softmax out of the model and return its raw outputs (logits)");
    return;
  }
  const auto binary = LossCalls(run, {"binary_cross_entropy_with_logits"});
  // A single value between 0 and 1 for all samples is no range.
  const bool squashed = binary.size() >= 3 && !GivesOneAnswer(*binary.back(), 1e-3) &&
                        std::all_of(binary.begin(), binary.end(), [](const Observation* call) {
                          return call->Number("input_min").value_or(-1) >= 0 &&
                                 call->Number("input_max").value_or(2) <= 1;
                        });
  if (squashed) {
    out.Add(Decisive("loss-call",
                     "binary_cross_entropy_with_logits was given values between 0 and 1 in all " +
                         HumanNumber(static_cast<double>(binary.size())) +
                         " calls looked at: it applies sigmoid itself"));
    out.Fix("leave the sigmoid out of the model, or use BCELoss with it");
  }
}

}  // namespace whystop
