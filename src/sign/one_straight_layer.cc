#include "model/observations.h"
#include "sign/near_guessing.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"

namespace whystop {

/// A regression by a straight line is what was asked for: what it leaves over is noise as likely as a bend.
Sign LookOneStraightLayer(const Training& training) {
  if (training.model == nullptr) {
    return NotSeenSign();
  }
  const auto model = As<seen::Model>(*training.model);
  return AnswerSign(LearnsNumbers(training.run) && OrZero(model.matrices) <= 1 && model.activations.value_or("").empty(), "model",
                    "it is a straight line, whose remainder may be noise");
}

}  // namespace whystop
