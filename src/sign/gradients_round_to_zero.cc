#include "base/human.h"
#include "sign/signs.h"
#include "sign/training.h"

namespace whystop {

Sign LookGradientsRoundToZero(const Training& training) {
  const Finding* rounds = training.run.FindFirst("gradient/rounds-to-zero");
  return ByFinding(rounds, "tensor",
                   rounds == nullptr ? std::string()
                                     : "no value of the gradient of " + rounds->series + " is above " +
                                           HumanNumber(rounds->Number("largest").value_or(0), 2) + ", where 16 bits end at 6e-08, and " +
                                           HumanNumber(100 * rounds->Number("zeros").value_or(0), 2) + " % of them are exactly zero");
}

}  // namespace whystop
