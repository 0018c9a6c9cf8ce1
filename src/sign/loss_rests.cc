#include "sign/signs.h"
#include "sign/training.h"

namespace whystop {

/// Of few steps the schedule alone makes a rest: it takes the rate to nothing.
Sign LookLossRests(const Training& training) {
  constexpr double kEnough = 200;  // Points.
  return AnswerSign(training.learning.state == Learning::kConverged && training.points >= kEnough, "series", training.learning.text);
}

}  // namespace whystop
