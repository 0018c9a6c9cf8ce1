#include "sign/framework_stop.h"

#include <algorithm>
#include <string_view>

#include "base/human.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/nan.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {
namespace {

/// "Timer", "_check_time_remaining", "TimeLimitCallback": one of the words that a name is made of is about time.
bool IsAboutTime(std::string_view name) {
  std::string words = "_";
  for (const char letter : name) {
    const bool upper = letter >= 'A' && letter <= 'Z';
    words += upper && words.back() != '_' ? "_" : "";
    words += upper ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  words += "_";
  constexpr std::string_view kTime[] = {"_time_", "_timer_", "_timeout_", "_walltime_", "_deadline_", "_elapsed_"};
  return std::any_of(std::begin(kTime), std::end(kTime), [&words](std::string_view word) {
    return words.find(word) != std::string::npos;
  });
}

}  // namespace

const Observation* FrameworkStop(const CaseFile& run) { return StopRequest(run); }

ExitReason ReasonOfStop(const CaseFile& run, const Observation& stop) {
  const auto stop_seen = As<seen::FrameworkStop>(stop);
  const std::string words = stop_seen.who.value_or("") + " " + stop_seen.source.value_or("");
  const bool counts = stop_seen.patience || stop_seen.early_stopping_patience;
  if (!counts && SomeLossLost(run) && MentionsAny(words, {"nan", "Nan", "NaN", "finite"})) {
    return ExitReason::kNotFinite;
  }
  // Its patience was not spent: it was the threshold that ended it.
  if (stop_seen.stopping_threshold && !stop_seen.divergence_threshold &&
      stop_seen.wait_count.value_or(0) < stop_seen.patience.value_or(0)) {
    return ExitReason::kTarget;
  }
  if (!counts && IsAboutTime(stop_seen.who.value_or("") + "_" + stop_seen.function.value_or(""))) {
    return ExitReason::kTimeBudget;
  }
  const ExitReason said =
      stop_seen.condition.value_or("").empty() ? ExitReason::kNotKnown : ReasonOf(&stop);
  if (said == ExitReason::kNotFinite || said == ExitReason::kTarget ||
      said == ExitReason::kPatience || said == ExitReason::kStepBudget ||
      said == ExitReason::kTimeBudget) {
    return said;
  }
  return counts ? ExitReason::kPatience : ExitReason::kStopFlag;
}

std::string DescribeStop(const Observation& stop) {
  const auto stop_seen = As<seen::FrameworkStop>(stop);
  const std::string path = stop_seen.file.value_or("");
  const std::string condition = stop_seen.condition.value_or("");
  const std::string values = stop_seen.values.value_or("");
  std::string text = stop_seen.who.value_or("") + "." + stop_seen.function.value_or("") +
                     " set the stop flag of " + stop_seen.framework.value_or("") + " at " +
                     path.substr(path.find_last_of('/') + 1) + ":" +
                     HumanNumber(OrZero(stop_seen.line), 9);
  text += condition.empty() ? "" : " under `" + condition + "`";
  text += values.empty() ? "" : " (" + values + ")";
  return text + DescribeFrameworkEpoch(stop);
}

const Observation* LastFailedCall(const CaseFile& run) {
  const Observation* failed = run.FindObservation("framework-failed");
  const Observation* end = run.FindObservation("framework-end");
  const bool trained_again = failed != nullptr && end != nullptr &&
                             As<seen::FrameworkEnd>(*end).failed.value_or("").empty() && end->step && failed->step &&
                             *end->step > *failed->step;
  return trained_again ? nullptr : failed;
}

std::string DescribeFrameworkEpoch(const Observation& seen) {
  const auto told = As<seen::FrameworkFailed>(seen);
  if (!told.epoch) {
    return {};
  }
  return " in epoch " + HumanNumber(told.epoch.value_or(0), 9) +
         (told.epochs ? " of " + HumanNumber(told.epochs.value_or(0), 9) : "");
}

}  // namespace whystop
