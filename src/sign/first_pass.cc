#include "sign/first_pass.h"

#include <fmt/core.h>

#include "base/human.h"
#include "sign/beside_guessing.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

std::string Describe(const Finding& pass, double guess) {
  return fmt::format("loss was at {:.4g} (+-{:.2g}) at the end of the first pass, where every sample comes for the first time; guessing costs {:.4g}",
                     pass.Number("level").value_or(0), pass.Number("error").value_or(0), guess);
}

}  // namespace

bool CarriedOverInTheFirstPass(const CaseFile& run, double guess) {
  constexpr double kClearly = 0.9;
  constexpr double kErrors = 3;
  const Finding* pass = run.FindFirst("loss/first-pass");
  if (pass == nullptr) {
    return false;
  }
  const double level = pass->Number("level").value_or(guess);
  return level < kClearly * guess && level + kErrors * pass->Number("error").value_or(0) < guess;
}

Sign LookLearnedInFirstPass(const Training& training) {
  const Finding* pass = training.run.FindFirst("loss/first-pass");
  if (pass == nullptr || !training.guess) {
    return NotSeenSign();
  }
  const std::string text = Describe(*pass, *training.guess);
  return CarriedOverInTheFirstPass(training.run, *training.guess) ? YesSign("series", text) : NoSign(text);
}

Sign LookScoreBeliesFirstPass(const Training& training) {
  const Finding* score = HeldOutNoBetterThanGuessing(training.run, training.learning);
  const bool belied = score != nullptr && FactText(*score, "role") == "validation-score" && training.guess &&
                      CarriedOverInTheFirstPass(training.run, *training.guess);
  return belied ? YesSign("series", fmt::format("{} stays at {:.4g} at best, as by guessing, though what is learned carries over: {}", score->series,
                                                score->Number("best").value_or(0), Describe(*training.run.FindFirst("loss/first-pass"), *training.guess)))
                : NoSign();
}

}  // namespace whystop
