#include "sign/early_stop.h"

#include <algorithm>
#include <cmath>

#include "base/parse.h"
#include "model/observations.h"
#include "sign/exit_reason.h"
#include "sign/framework_stop.h"
#include "sign/learning.h"
#include "sign/loop_exit.h"
#include "sign/signs.h"
#include "sign/training.h"
#include "sign/words.h"

namespace whystop {
namespace {

/// How many checks without a gain it waited for, by the framework's setting or by the values of the loop's condition: a counter and
/// its limit are whole numbers, and neither is below the limit. 0: not known.
double ChecksWaited(const CaseFile& run) {
  if (const Observation* stop = FrameworkStop(run)) {
    const auto stop_seen = As<seen::FrameworkStop>(stop);
    return ReasonOfStop(run, *stop) == ExitReason::kPatience
               ? stop_seen.patience.value_or(stop_seen.early_stopping_patience.value_or(0))
               : 0;
  }
  const Observation* exit = FinalExit(run);
  double least = 0;
  for (const auto& [name, value] : ReasonOf(exit) == ExitReason::kPatience ? ExitValues(*exit)
                                                                          : decltype(ExitValues(*exit)){}) {
    const bool counts = value >= 1 && value == std::floor(value);
    least = !counts ? least : least == 0 ? value : std::min(least, value);
  }
  return least;
}

constexpr double kUsualPatience = 5;  // Fewer checks are within the wobble of most metrics.
constexpr double kShortPatience = 3;  // These may do at the end of a run that went on for long before.
constexpr double kLongBefore = 5;     // As many times as it waited.

/// `checks`: how often the held-out value was looked at; the turns of a loop may be steps.
bool IsLongEnough(double waited, double checks) {
  return waited >= kUsualPatience || (waited >= kShortPatience && checks >= kLongBefore * waited);
}

constexpr double kWorthWaitingFor = 0.01;  // Of all that was gained, in the last two fifths of the run.

constexpr double kClearlyTurned = 6;   // Of the noise of its level, by which a held-out loss ends above its best.
constexpr double kLongPatience = 2 * kUsualPatience;
constexpr double kRisenInVain = 3;     // Of the noise of its points, where it was waited for so long.
constexpr double kTurnedBefore = 0.6;  // Of the run, by when that best was reached.

struct HeldOut {
  double points = 0;
  bool turned = false;  // It rose from its best, and not by noise: no patience would have brought more.
  bool falls = false;  // Or rises, of a score: it gets better still, and its best value was there within a usual patience.
};

/// The series whose last value stands in the condition that ended the loop: a rule of the program's own watches that one.
bool StandsInTheCondition(const CaseFile& run, const Finding& finding) {
  constexpr double kPrinted = 1e-3;
  const Observation* exit = FinalExit(run);
  const double last = finding.Number("last_value").value_or(finding.Number("last").value_or(0));
  const auto values = exit == nullptr ? decltype(ExitValues(*exit)){} : ExitValues(*exit);
  return std::any_of(values.begin(), values.end(), [last](const auto& named) { return std::abs(named.second - last) <= kPrinted * std::abs(last); });
}

bool IsHeldOut(const Finding& finding) { return finding.detector == "loss/trend" && FactText(finding, "role").starts_with("validation-"); }

/// Of what the rule watches, where that is known; else of anything that was held out.
HeldOut HeldOutOf(const CaseFile& run, double patience = kUsualPatience) {
  const Observation* stop = FrameworkStop(run);
  const std::string watched = stop == nullptr ? std::string() : As<seen::FrameworkStop>(*stop).monitor.value_or("");
  const bool known = stop == nullptr && std::any_of(run.findings.begin(), run.findings.end(), [&run](const Finding& finding) {
    return IsHeldOut(finding) && StandsInTheCondition(run, finding);
  });
  // A name that tells nothing ("val") may be that of a series whose part is not known: the others speak for it.
  const bool named = std::any_of(run.findings.begin(), run.findings.end(), [&watched](const Finding& finding) {
    return IsHeldOut(finding) && finding.series.ends_with(watched);
  });
  HeldOut out;
  for (const Finding& finding : run.findings) {
    if (IsHeldOut(finding) && (!named || finding.series.ends_with(watched)) && (!known || StandsInTheCondition(run, finding))) {
      const double points = finding.Number("points").value_or(0);
      const double since_best = (1 - finding.Number("best_at").value_or(1)) * points;
      out.points = std::max(out.points, points);
      const double gained = std::abs(finding.Number("first").value_or(0) - finding.Number("last").value_or(0));
      const double risen = finding.Number("last").value_or(0) - finding.Number("best").value_or(0);
      const bool clearly = risen > kClearlyTurned * finding.Number("level_noise").value_or(risen) ||
                           (patience >= kLongPatience && risen > kRisenInVain * finding.Number("noise").value_or(risen));
      out.turned = out.turned || (FactText(finding, "role") == "validation-loss" && finding.Number("best_at").value_or(1) < kTurnedBefore && clearly);
      const bool matters = std::abs(finding.Number("end_change").value_or(0)) > kWorthWaitingFor * gained;
      out.falls = out.falls || (finding.Number("still_falling").value_or(0) != 0 && matters && since_best < std::min(patience, kUsualPatience));
    }
  }
  return out;
}

/// The last number of "did not improve in the last 3 records", that stands before what is counted; 0: it names none.
double ChecksNamed(const std::string& line) {
  for (const char* unit : {" records", " epochs", " runs", " consecutive", " rounds", " checks"}) {
    const std::size_t end = line.find(unit);
    const std::size_t begin = end == std::string::npos ? end : line.find_last_not_of("0123456789", end - 1);
    if (begin != std::string::npos && begin + 1 < end) {
      return ParseWhole<double>(std::string_view(line).substr(begin + 1, end - begin - 1)).value_or(0);
    }
  }
  return 0;
}

/// A log of a run that nobody watched says that early stopping ended it. Whether that was too early is told by a held-out value that
/// still got better, a patience that is named and short, or a run that learned nothing; without any of these it did its job.
bool SaidSoWithoutHarm(const CaseFile& run) {
  const auto said = std::find_if(run.log_facts.begin(), run.log_facts.end(), [](const LogFact& fact) {
    return fact.cause == "early-stop-patience" && fact.role == LogFact::Role::kNormal;
  });
  if (said == run.log_facts.end() || LearningOf(run).Bad() || HeldOutOf(run).falls) {
    return false;
  }
  const double named = ChecksNamed(said->line);
  return named == 0 || IsLongEnough(named, run.progress.epoch.value_or(0));
}

}  // namespace

bool StoppedAfterItsBest(const CaseFile& run) {
  const Observation* exit = FinalExit(run);
  if (FrameworkStop(run) == nullptr && exit == nullptr) {
    return !run.watched && SaidSoWithoutHarm(run);
  }
  const double waited = ChecksWaited(run);
  const LearningView learning = LearningOf(run);
  const HeldOut held_out = HeldOutOf(run, waited);
  const double turns = exit == nullptr ? 0 : As<seen::LoopExit>(*exit).turn.value_or(0);
  const double checks = std::max({turns, run.progress.epoch.value_or(0), held_out.points});
  if (!IsLongEnough(waited, held_out.points)) {
    return false;
  }
  const bool levelled = held_out.points > 0 ? !held_out.falls : learning.state == Learning::kConverged;
  // It had come to rest or turned for good, or improved for as long as it then waited.
  const bool waited_long = learning.state == Learning::kConverged || held_out.turned || checks >= 2 * waited;
  return learning.Good() && waited_long && levelled;
}

Sign LookStoppedAfterItsBest(const Training& training) {
  return AnswerSign(StoppedAfterItsBest(training.run), "framework",
                    "early stopping waited for its full patience after the best value, and ended it");
}

}  // namespace whystop
