#include <cmath>

#include "base/human.h"
#include "model/observations.h"
#include "sign/loop_exit.h"
#include "sign/nan.h"
#include "sign/observed.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

const Finding* TrendOf(const CaseFile& run, const std::string& series) {
  for (const Finding& finding : run.findings) {
    if (finding.detector == "loss/trend" && finding.series == series) {
      return &finding;
    }
  }
  return nullptr;
}

/// How large the last finite value was beside the first; nullopt: there was none.
std::optional<double> GrowthBefore(const Training& training) {
  if (training.lost == nullptr || !training.lost->Number("before")) {
    return std::nullopt;
  }
  const Finding* trend = TrendOf(training.run, training.lost->series);
  const double first = trend == nullptr ? 0 : std::abs(trend->Number("first").value_or(0));
  return first > 0 ? std::optional(std::abs(*training.lost->Number("before")) / first)
                   : std::nullopt;
}

constexpr double kRanAway = 1e6;

}  // namespace

Sign LookLossLost(const Training& training) {
  const Finding* lost = training.lost;
  if (lost == nullptr) {
    return NoSign();
  }
  std::string text = lost->series + " became " + FactText(*lost, "first");
  text += lost->step_from ? " at step " + HumanCount(*lost->step_from) : "";
  if (const auto before = lost->Number("before")) {
    text += ", after " + HumanNumber(*before);
  }
  return ByFinding(lost, "series", text + ", and never was a number again");
}

/// A loop that tests its loss leaves before the value gets anywhere.
Sign LookLeftForNan(const Training& training) {
  if (!LeftForALossNotFinite(training.run)) {
    return NoSign();
  }
  const Observation* exit = FinalExit(training.run);
  return YesSign("loop", "the loss was not finite when " + DescribeExit(*exit) +
                             " ended the loop" + DescribeTurn(*exit));
}

Sign LookNanSeen(const Training& training) {
  return AnswerSign(NanSeen(training.run), "series", "a loss, gradient or weight was not finite");
}

/// Seen at every step and never finite: it was lost before the rate could do anything.
Sign LookFirstLossLost(const Training& training) {
  return AnswerSign(training.run.probe_loaded && training.lost != nullptr &&
                        training.learning.basis != nullptr && training.points == 0,
                    "series", "the loss was never a finite number");
}

/// What drives a loss out of bounds raises it first. One that was ordinary to its last value was
/// ended by something else: a bad sample, a forbidden operation.
Sign LookLostWhileOrdinary(const Training& training) {
  constexpr double kOrdinary = 1.5;
  const auto growth = GrowthBefore(training);
  const Finding* large = training.run.FindFirst("update/ratio-too-large");
  if (!growth || training.points < 3) {
    return NotSeenSign();
  }
  const double most = large == nullptr ? 0
                                       : std::max(large->Number("ratio").value_or(0),
                                                  large->Number("ratio_highest").value_or(0));
  return AnswerSign(*growth <= kOrdinary && most < 1 &&
                        training.run.FindFirst("gradient/exploding") == nullptr,
                    "series",
                    training.lost->series + " was " +
                        HumanNumber(*training.lost->Number("before")) + ", " +
                        HumanNumber(*growth, 2) + " times its first value, before it was lost");
}

/// The loss had been sound, and nothing had grown: what made the weights NaN came at once.
Sign LookLostInOneStep(const Training& training) {
  const auto growth = GrowthBefore(training);
  const auto reports = ObservationsOf(training.run, "nonfinite");
  if (!growth || reports.empty()) {
    return NotSeenSign();
  }
  const Finding* trend = TrendOf(training.run, training.lost->series);
  const bool at_once = FactText(*training.lost, "first") == "nan" &&
                       trend->Number("points").value_or(0) >= 2 && *growth < 2 &&
                       As<seen::Nonfinite>(*reports.front()).first == "weight";
  return AnswerSign(at_once, "tensor",
                    training.lost->series + " was " +
                        HumanNumber(*training.lost->Number("before")) +
                        " and sound; one step later " + As<seen::Nonfinite>(*reports.front()).weight_names.value_or("") +
                        " were NaN: the backward pass of a finite loss gave NaN, as that of sqrt, "
                        "norm or pow does at 0");
}

Sign LookLossRanAway(const Training& training) {
  if (training.lost == nullptr || !training.lost->Number("before")) {
    return NoSign();
  }
  const double before = *training.lost->Number("before");
  return ByFinding(std::abs(before) > kRanAway ? training.lost : nullptr, "series",
                   training.lost->series + " was " + HumanNumber(before) + " before it became " +
                       FactText(*training.lost, "first") + ": the values had run away");
}

/// Anything had grown out of bounds before the NaN: overflow, not bad mathematics.
Sign LookGrewBeforeNan(const Training& training) {
  constexpr double kTimes = 100;
  const auto growth = GrowthBefore(training);
  const bool loss_grew =
      growth && (*growth > kTimes || std::abs(*training.lost->Number("before")) > kRanAway);
  return AnswerSign(loss_grew || training.run.FindFirst("gradient/exploding") != nullptr ||
                        training.run.FindFirst("update/ratio-too-large") != nullptr,
                    "series", "gradients, updates or the loss had grown before");
}

/// The loss is NaN, and a loss that the program prints goes on as a number.
Sign LookNanHiddenInPrint(const Training& training) {
  constexpr double kLostMin = 5;
  const Finding* lost = training.lost;
  if (lost == nullptr) {
    return NoSign();
  }
  for (const Finding& shown : training.run.findings) {
    if (shown.detector == "loss/trend" && FactText(shown, "role") == "train-loss" &&
        shown.Number("not_finite").value_or(0) == 0 && shown.Number("points").value_or(0) >= 3 &&
        shown.at > lost->at && lost->Number("not_finite").value_or(0) >= kLostMin) {
      return ByFinding(&shown, "series",
                       "the program shows " + shown.series + " as " +
                           HumanNumber(shown.Number("last").value_or(0)) +
                           " to the end, while the loss has been " + FactText(*lost, "first") +
                           (lost->step_from ? " since step " + HumanCount(*lost->step_from) : ""));
    }
  }
  return NoSign();
}

Sign LookNanShownAsZero(const Training& training) {
  const Finding* gradient = training.run.FindFirst("gradient/not-finite");
  const bool hidden = gradient != nullptr && training.lost == nullptr &&
                      training.learning.basis != nullptr &&
                      gradient->Number("lasting").value_or(0) > 0 &&
                      training.learning.basis->Number("last").value_or(1) == 0;
  return ByFinding(hidden ? gradient : nullptr, "series",
                   hidden ? gradient->series + " is not a number to the end while " +
                                training.learning.basis->series +
                                " is shown as exactly 0: the logger leaves NaN losses out"
                          : std::string());
}

}  // namespace whystop
