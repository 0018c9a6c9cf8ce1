#include "base/human.h"
#include "model/observations.h"
#include "sign/loss_calls.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"

namespace whystop {

/// A softmax in front of a loss that asks of each tag by itself. One tag a sample it can reach, more it cannot.
Sign LookOneShareForSeveral(const Training& training) {
  constexpr double kSeveral = 1.5;  // Tags a sample: a batch of single ones has 1, and few have a second.
  for (const Observation* call : LossCalls(training.run, {"binary_cross_entropy"})) {
    const auto call_seen = As<seen::LossCall>(call);
    const double tags = call_seen.target_mean.value_or(0) * OrZero(call_seen.classes);
    if (call_seen.sums_to_one.value_or(false) && OrZero(call_seen.classes) > 2 && tags > kSeveral) {
      return YesSign("loss-call", "the outputs of a sample sum to 1, as those of a softmax do, and its targets to " + HumanNumber(tags, 2) +
                                      ": they cannot all be reached");
    }
  }
  return NoSign();
}

}  // namespace whystop
